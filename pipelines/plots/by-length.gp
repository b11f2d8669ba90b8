# by-length.gp - shares by length of the prompt, a line for each value of the column `group`: tables of bam-passkey (the
# rows of all depths together, with their intervals) and, with y='score'; group='task', of bam-ruler. context=N tells
# lengths in contexts.
here = ARG0[:strlen(ARG0) - strlen("by-length.gp")]
if (!exists("y")) y = "accuracy"
if (!exists("group")) group = "name"
if (!exists("context")) context = 1
load here."setup.gp"
groups = values(group)
has_depths = strlen(values("depth")) > 0
percent = y eq "score" ? 1 : 100
mine(g, rest) = (g eq "" || strcol(group) eq g) && (!has_depths || strcol("depth") eq "all") ? rest : NaN
x(g) = mine(g, column("length") / real(context))
set logscale x 2
set yrange [-2:102]
set ylabel "percent"
set xlabel context > 1 ? "length of the prompt / training context" : "length of the prompt"
if (has_depths) {
  plot for [i = 1:words(groups)] table using (x(word(groups, i))):(percent * column(y)):(percent * column("ci_low")):(percent * column("ci_high")) with yerrorlines linewidth 2 pointtype 7 pointsize 0.4 linecolor rgb shade(i) title word(groups, i)
} else {
  plot for [i = 1:words(groups)] table using (x(word(groups, i))):(percent * column(y)) with linespoints linewidth 2 pointtype 7 pointsize 0.4 linecolor rgb shade(i) title word(groups, i)
}
