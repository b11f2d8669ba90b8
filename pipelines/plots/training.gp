# training.gp - loss by tokens from logs of bam-train, a line for each; points are validation losses.
#   gnuplot -e "table='A.log.jsonl B.log.jsonl'; picture='training.svg'" training.gp
# There are blanks between the logs' names, and none in them.
here = ARG0[:strlen(ARG0) - strlen("training.gp")]
load here."setup.gp"
unset datafile columnheaders
set datafile separator whitespace
loss(log) = "< awk -f '".here."log.awk' '".log."'"
val_loss(log) = "< awk -f '".here."log.awk' -v what=val_loss '".log."'"
stem(log) = system("basename '".log."' | sed 's/[.].*//'")
set xlabel "tokens"
set ylabel "loss (nats)"
set format x "%.1s%c"
plot for [i = 1:words(table)] loss(word(table, i)) using 1:2 with lines linewidth 1.5 linecolor rgb shade(i) title stem(word(table, i)), \
  for [i = 1:words(table)] val_loss(word(table, i)) using 1:2 with points pointtype 7 pointsize 0.5 linecolor rgb shade(i) notitle
