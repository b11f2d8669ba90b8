# attention-keys.gp - the table of bam-attn --by key as strips: a row for each layer and head, along it the keys of one
# query (the last one of the table, or query=N), darker where a key has more attention. A passkey's line is between two
# marks.
here = ARG0[:strlen(ARG0) - strlen("attention-keys.gp")]
places = "awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { p = $at[\"layer\"] \".\" $at[\"head\"] } !seen[p]++ { printf \"%s \", p }' "
if (exists("table")) heads = system(places."'".table."'")
high = 90 + 16 * words(heads)
load here."setup.gp"
stats table using (column("query")) name "QUERY" nooutput
if (!exists("query")) query = QUERY_max
stats table using (column("query") == query && column("needle") > 0 ? column("from") : NaN) name "FIRST" nooutput
stats table using (column("query") == query && column("needle") > 0 ? column("to") : NaN) name "LAST" nooutput
row(x) = place(strcol("layer").".".strcol("head"), heads)
keys(x) = column("to") - column("from") + 1
faint(x) = x < 1e-6 ? -6 : log10(x)
if (FIRST_records > 0) {
  set arrow 1 from FIRST_min, graph 0 to FIRST_min, graph 1 nohead front linecolor rgb "#d55e00" linewidth 0.7
  set arrow 2 from LAST_max + 1, graph 0 to LAST_max + 1, graph 1 nohead front linecolor rgb "#d55e00" linewidth 0.7
}
set xrange [0:query + 1]
set yrange [words(heads) + 0.5:0.5]
set cbrange [-6:0]
set palette defined (0 "#ffffff", 2 "#c6dbef", 4 "#4292c6", 6 "#08306b")
set cblabel "attention to a key, log10" offset 1
set xlabel sprintf("key; query %d", query)
set ylabel "layer.head"
set ytics () nomirror
do for [i = 1:words(heads)] { set ytics add (word(heads, i) i) }
unset grid
unset key
plot table using (column("query") == query ? column("from") : NaN):(row(0)):(column("from")):(column("to") + 1):(row(0) - 0.45):(row(0) + 0.45):(faint(column("attention") / keys(0))) with boxxyerror fillstyle solid noborder linecolor palette
