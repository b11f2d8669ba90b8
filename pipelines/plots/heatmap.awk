# heatmap.awk - the table of bam-passkey to an SVG: a column for each length, from top to bottom the place of the key in
# the filler, green where keys were found and red where not.
#   awk -f heatmap.awk [-v context=N] [-v title=TEXT] TABLE.tsv
BEGIN { FS = "\t"; left = 70; top = 50; width = 60; height = 300 }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
  length_now = $(at["length"])
  if (!(length_now in rows)) { lengths[++count] = length_now; rows[length_now] = 0 }
  if ($(at["depth"]) == "all") { total[length_now] = $(at["accuracy"]); next }
  k = ++rows[length_now]
  depth[length_now, k] = $(at["depth"])
  accuracy[length_now, k] = $(at["accuracy"])
}
function text(x, y, anchor, words) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, words }
END {
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", left + count * width + 20, top + height + 60
  print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  text(left + count * width / 2, 20, "middle", title ": passkeys found")
  text(left + count * width / 2, top + height + 45, "middle", context ? "length / training context" : "length")
  for (k = 0; k <= 4; k++) text(left - 8, top + k / 4 * height + 4, "end", k == 0 ? "begin" : k == 4 ? "end" : 25 * k "%")
  for (n = 1; n <= count; n++) {
    l = lengths[n]
    for (k = 1; k <= rows[l]; k++) {
      y1 = k == 1 ? 0 : (depth[l, k - 1] + depth[l, k]) / 2
      y2 = k == rows[l] ? 1 : (depth[l, k] + depth[l, k + 1]) / 2
      a = accuracy[l, k]
      printf "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"rgb(%d,%d,%d)\"><title>%s tokens, depth %s: %.0f%%</title></rect>\n", left + (n - 1) * width, top + y1 * height, width - 2, (y2 - y1) * height, 215 - 188 * a, 48 + 110 * a, 39 + 80 * a, l, depth[l, k], 100 * a
    }
    text(left + (n - 0.5) * width, top - 8, "middle", sprintf("%.0f%%", 100 * total[l]))
    text(left + (n - 0.5) * width, top + height + 18, "middle", context ? l / context "x" : l)
  }
  print "</svg>"
}
