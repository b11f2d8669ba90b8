# passkey-depth.gp - the table of bam-passkey as a heat map: a column for each length, from top to bottom the place of the
# key in the filler. With a column `name` in the table, name='NAME' chooses a model; context=N tells lengths in contexts.
here = ARG0[:strlen(ARG0) - strlen("passkey-depth.gp")]
if (!exists("name")) name = ""
if (!exists("context")) context = 1
load here."setup.gp"
lengths = values("length")
mine(rest) = name eq "" ? rest : (strcol("name") eq name ? rest : NaN)
at_depth(rest) = strcol("depth") eq "all" ? NaN : mine(rest)
# Cells meet halfway between two depths.
array half[words(lengths)]
do for [i = 1:words(lengths)] {
  stats table using (strcol("length") eq word(lengths, i) ? at_depth(1) : NaN) name "CELLS" nooutput
  half[i] = CELLS_records > 1 ? 0.5 / (CELLS_records - 1) : 1
}
column_of(x) = place(strcol("length"), lengths)
low(d, i) = d - half[i] < 0 ? 0 : d - half[i]
high(d, i) = d + half[i] > 1 ? 1 : d + half[i]

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
plot table using (at_depth(column_of(0))):(column("depth")):(column_of(0) - 0.47):(column_of(0) + 0.47):(low(column("depth"), int(column_of(0)))):(high(column("depth"), int(column_of(0)))):(column("accuracy")) with boxxyerror fillstyle solid noborder linecolor palette
