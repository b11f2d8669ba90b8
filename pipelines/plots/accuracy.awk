# accuracy.awk - a table with the columns name, length, depth, n and accuracy to a table in Markdown: a line for each
# name, a column for each length, in percent.
#   awk -f accuracy.awk [-v context=N] TABLE.tsv
BEGIN { FS = "\t"; widest = length("model") }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
$(at["depth"]) != "all" { next }
{
  name = $(at["name"])
  l = $(at["length"])
  if (!(name in known)) { known[name] = 1; names[++count] = name; if (length(name) > widest) widest = length(name) }
  if (!(l in seen)) { seen[l] = 1; k = ++columns; while (k > 1 && lengths[k - 1] > l) { lengths[k] = lengths[k - 1]; k-- }; lengths[k] = l }
  cell[name, l] = sprintf("%.0f", 100 * $(at["accuracy"]))
}
END {
  printf "| %-*s |", widest, "model"
  for (k = 1; k <= columns; k++) printf " %5s |", (context > 1 ? lengths[k] / context "x" : lengths[k])
  printf "\n|%s|", dashes(widest + 2)
  for (k = 1; k <= columns; k++) printf "%s:|", dashes(6)
  print ""
  for (n = 1; n <= count; n++) {
    printf "| %-*s |", widest, names[n]
    for (k = 1; k <= columns; k++) printf " %5s |", cell[names[n], lengths[k]]
    print ""
  }
}
function dashes(n,    text) { while (n-- > 0) text = text "-"; return text }
