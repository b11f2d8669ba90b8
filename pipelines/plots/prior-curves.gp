# prior-curves.gp - prior curves of a model, from `bam-prior-fit show --curves`: a panel for each layer, a line for each head.
# With several lengths in the table, keys=N chooses one; the longest otherwise.
here = ARG0[:strlen(ARG0) - strlen("prior-curves.gp")]
count = "awk -F'\\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } !seen[$at[\"layer\"]]++ { n++ } END { print n }' "
panels = exists("table") ? int(system(count."'".table."'")) : 1
columns = int(ceil(sqrt(panels)))
lines = int(ceil(1.0 * panels / columns))
wide = 420 * columns
high = 320 * lines
load here."setup.gp"
layers = values("layer")
heads = values("head")
stats table using (column("keys")) name "KEYS" nooutput
if (!exists("keys")) keys = KEYS_max
mine(l, h, rest) = strcol("layer") eq l && strcol("head") eq h && column("keys") == keys ? rest : NaN
set logscale xy
set format y "1e%L"
set yrange [1e-8:2]
set xlabel "tokens back + 1"
set ylabel "prior"
unset key
set multiplot layout lines, columns title title
do for [l = 1:words(layers)] {
  set title sprintf("layer %s, %d keys", word(layers, l), keys)
  plot for [h = 1:words(heads)] table using (mine(word(layers, l), word(heads, h), column("distance") + 1)):(column("probability")) with lines linewidth 1.5 linecolor rgb shade(h)
}
unset multiplot
