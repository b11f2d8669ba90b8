# passkey-depth.gp - the table of bam-passkey as a heat map: a column for each length, from top to bottom the place of the
# key in the filler. With a column `name` in the table, name='NAME' chooses a model; context=N tells lengths in contexts.
here = ARG0[:strlen(ARG0) - strlen("passkey-depth.gp")]
if (!exists("name")) name = ""
if (!exists("context")) context = 1
load here."setup.gp"
lengths = values("length")
column_of(x) = place(strcol("length"), lengths)

set xrange [0.5:words(lengths) + 0.5]
set yrange [1:0]
set cbrange [0:1]
set palette defined (0 "#d7301f", 0.5 "#fdcc8a", 1 "#1b9e77")
set colorbox
set cblabel "found"
set ylabel "place of the key: 0 first, 1 last"
set xlabel context > 1 ? "length / training context" : "length"
unset grid
unset key
set xtics () nomirror
do for [i = 1:words(lengths)] {
  set xtics add (context > 1 ? sprintf("%gx", word(lengths, i) / real(context)) : word(lengths, i) i)
}
plot "< awk -v name='".name."' -f '".here."cells.awk' '".table."'" using (column_of(0)):(column("depth")):(column_of(0) - 0.47):(column_of(0) + 0.47):"low":"high":"accuracy" with boxxyerror fillstyle solid noborder linecolor palette
