# attention-distance.gp - the table of bam-attn --by distance: a panel for each layer, a line for each head, the share of
# attention that one key gets at a distance; dashed what it would be were attention spread evenly.
here = ARG0[:strlen(ARG0) - strlen("attention-distance.gp")]
count = "awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } !seen[$at[\"layer\"]]++ { n++ } END { print n }' "
panels = exists("table") ? int(system(count."'".table."'")) : 1
columns = int(ceil(sqrt(panels)))
lines = int(ceil(1.0 * panels / columns))
wide = 420 * columns
high = 320 * lines
load here."setup.gp"
layers = values("layer")
heads = values("head")
keys(x) = column("to") - column("from") + 1
mine(l, h, rest) = strcol("layer") eq l && strcol("head") eq h ? rest : NaN
set logscale xy
set format y "1e%L"
set yrange [1e-8:2]
set xlabel "tokens back + 1"
set ylabel "attention to a key"
unset key
set multiplot layout lines, columns title title
do for [l = 1:words(layers)] {
  set title "layer ".word(layers, l)
  plot for [h = 1:words(heads)] table using (mine(word(layers, l), word(heads, h), 1 + (column("from") + column("to")) / 2)):(column("attention") / keys(0)) with lines linewidth 1.5 linecolor rgb shade(h), \
    table using (mine(word(layers, l), word(heads, 1), 1 + (column("from") + column("to")) / 2)):(column("uniform") / keys(0)) with lines dashtype 2 linecolor rgb "#555555"
}
unset multiplot
