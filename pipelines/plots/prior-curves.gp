# Prior curves of a model, from `bam-prior-fit show --curves`: one panel for each layer, one line for each head.
#   gnuplot -e "table='curves.tsv'; picture='curves.svg'" prior-curves.gp
# The suffix of `picture` chooses the format: .svg, .png or .pdf. With several lengths in the table, `keys` chooses one:
#   gnuplot -e "table='curves.tsv'; picture='curves.svg'; keys=512" prior-curves.gp
if (!exists("table")) { print "prior-curves.gp: table is missing, expected a file of show --curves"; exit status 2 }
if (!exists("picture")) picture = "prior-curves.svg"
set datafile separator "\t"
set datafile missing ""
set key autotitle columnhead

stats table using 1 name "LAYER" nooutput
stats table using 2 name "HEAD" nooutput
stats table using 3 name "KEYS" nooutput
if (!exists("keys")) keys = KEYS_max
layers = int(LAYER_max) + 1
heads = int(HEAD_max) + 1
columns = int(ceil(sqrt(layers)))
rows = int(ceil(1.0 * layers / columns))

if (picture[strlen(picture) - 3:] eq ".png") { set terminal pngcairo size 420 * columns, 320 * rows } \
else { if (picture[strlen(picture) - 3:] eq ".pdf") { set terminal pdfcairo size 4.2 * columns, 3.2 * rows } \
else { set terminal svg size 420 * columns, 320 * rows background "white" } }
set output picture

set logscale x
set logscale y
set yrange [1e-8:2]
set xlabel "tokens back + 1"
set ylabel "prior"
set format y "10^{%L}"
unset key
set multiplot layout rows, columns
do for [layer = 0:layers - 1] {
  set title sprintf("layer %d, %d keys", layer, keys)
  plot for [head = 0:heads - 1] table every ::1 \
    using ($5 + 1):(($1 == layer && $2 == head && $3 == keys) ? $7 : NaN) with lines linewidth 1.5
}
unset multiplot
