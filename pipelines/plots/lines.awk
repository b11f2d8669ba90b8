# lines.awk - a table with a column `name` to an SVG of one line a name, the horizontal axis in powers of two.
#   awk -f lines.awk -v x=COLUMN -v y=COLUMN [-v low=COLUMN -v high=COLUMN] [-v only=COLUMN=VALUE] [-v skip=COLUMN=VALUE]
#       [-v unit=N] [-v log_y=1] [-v title=TEXT] [-v xlabel=TEXT] TABLE.tsv
# `low` and `high` are the ends of an interval; `unit` divides the horizontal values; without log_y the vertical axis is
# a share, from 0 to 1.
BEGIN {
  FS = "\t"
  split("#0072b2 #56b4e9 #d55e00 #009e73 #cc79a7 #e69f00 #999999 #332288 #882255 #44aa99 #117733 #aa4499 #ddcc77", colours, " ")
  left = 60; top = 40; width = 520; height = 300
}
function matches(test,    part) { split(test, part, "="); return test != "" && $(at[part[1]]) == part[2] }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
matches(skip) || (only != "" && !matches(only)) { next }
{
  name = $(at["name"])
  if (!(name in points)) names[++count] = name
  k = ++points[name]
  xs[name, k] = $(at[x]) / (unit ? unit : 1)
  ys[name, k] = $(at[y])
  if (low != "") { lows[name, k] = $(at[low]); highs[name, k] = $(at[high]) }
  if (x_min == "" || xs[name, k] < x_min) x_min = xs[name, k]
  if (xs[name, k] > x_max) x_max = xs[name, k]
  if (y_min == "" || ys[name, k] + 0 < y_min + 0) y_min = ys[name, k]
  if (ys[name, k] > y_max) y_max = ys[name, k]
}
function px(value) { return left + (x_max > x_min ? (log(value) - log(x_min)) / (log(x_max) - log(x_min)) : 0.5) * width }
function py(value) {
  if (log_y) value = (log(value) - log(y_low)) / (log(y_high) - log(y_low))
  value = value < 0 ? 0 : value > 1 ? 1 : value
  return top + (1 - value) * height
}
function text(x, y, anchor, words) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, words }
function line(x1, y1, x2, y2, style) { printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style }
END {
  # What a position code that breaks does to perplexity would hide all else.
  if (log_y) { y_low = 0.8 * y_min; y_high = y_max > 20 * y_min ? 20 * y_min : 1.2 * y_max }
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", left + width + 200, top + height + 60
  print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  text(left + width / 2, 20, "middle", title)
  text(left + width / 2, top + height + 45, "middle", xlabel)
  for (value = 1 / 1024; value <= x_max * 1.01; value *= 2) {
    if (value < x_min * 0.99) continue
    line(px(value), top, px(value), top + height, "stroke=\"#dddddd\"")
    text(px(value), top + height + 18, "middle", value)
  }
  for (k = 0; k <= 4; k++) {
    value = log_y ? y_low * exp(k / 4 * log(y_high / y_low)) : k / 4
    line(left, py(value), left + width, py(value), "stroke=\"#dddddd\"")
    text(left - 8, py(value) + 4, "end", log_y ? sprintf("%.3g", value) : 100 * value "%")
  }
  for (n = 1; n <= count; n++) {
    name = names[n]
    colour = colours[(n - 1) % 13 + 1]
    path = ""
    for (k = 1; k <= points[name]; k++) {
      path = path sprintf("%.1f,%.1f ", px(xs[name, k]), py(ys[name, k]))
      if (low != "") line(px(xs[name, k]), py(lows[name, k]), px(xs[name, k]), py(highs[name, k]), "stroke=\"" colour "\" opacity=\"0.4\"")
      if (points[name] < 40) printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", px(xs[name, k]), py(ys[name, k]), colour
    }
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour
    line(left + width + 15, top + 18 * n - 4, left + width + 35, top + 18 * n - 4, "stroke=\"" colour "\" stroke-width=\"2\"")
    text(left + width + 40, top + 18 * n, "start", name)
  }
  print "</svg>"
}
