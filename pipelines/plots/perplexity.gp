# perplexity.gp - the table of bam-ppl by position, a line for each value of a column `name`. context=N tells positions in
# contexts.
here = ARG0[:strlen(ARG0) - strlen("perplexity.gp")]
if (!exists("context")) context = 1
load here."setup.gp"
names = values("name")
if (names eq "") { names = title eq "" ? "perplexity" : title; one = 1 } else { one = 0 }
mine(n, rest) = strcol("bin") ne "all" && (one || strcol("name") eq n) ? rest : NaN
stats table using (strcol("bin") ne "all" ? column("perplexity") : NaN) name "PPL" nooutput
set logscale x 2
set logscale y
# What a position code that breaks does to perplexity would hide all else.
least = 0.9 * PPL_min
most = PPL_max > 20 * PPL_min ? 20 * PPL_min : 1.1 * PPL_max
set yrange [least:most]
set ytics (1)
if (most > 8 * least) {
  do for [k = 0:6] { do for [digit in "1 2 5"] { set ytics add (digit * 10 ** k) } }
} else {
  # So narrow that 1, 2 and 5 may leave a single mark: about six at equal steps.
  power = 10.0 ** floor(log10((most - least) / 6))
  many = (most - least) / 6 / power
  step = power * (many > 5 ? 10 : many > 2 ? 5 : many > 1 ? 2 : 1)
  do for [k = ceil(least / step):floor(most / step)] { set ytics add (sprintf("%g", k * step) k * step) }
}
set ylabel "perplexity"
set xlabel context > 1 ? "position / training context" : "position"
plot for [i = 1:words(names)] table using (mine(word(names, i), column("to") / real(context))):(column("perplexity")) with linespoints linewidth 2 pointtype 7 pointsize 0.3 linecolor rgb shade(i) title word(names, i)
