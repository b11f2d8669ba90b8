# markdown.awk - columns of a table to a table in Markdown; columns that it does not have are left out.
#   awk -f markdown.awk -v columns="A B ..." [-v only=COLUMN=VALUE] [-v most=ROWS] TABLE.tsv
# Numbers have at most four figures behind the point.
BEGIN { FS = "\t"; split(only, test, "=") }
function number(text) {
  if (text !~ /^-?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?$/) return text
  return text < 1e-4 && text > -1e-4 && text != 0 ? sprintf("%.2e", text) : sprintf("%.4g", text)
}
function cell(text) {
  gsub(/\|/, "\\|", text)
  gsub(/</, "\\&lt;", text)
  return length(text) == 64 && text ~ /^[0-9a-f]+$/ ? substr(text, 1, 12) : number(text)
}
NR == 1 {
  for (i = 1; i <= NF; i++) at[$i] = i
  wanted = split(columns, column, " ")
  head = rule = "|"
  for (k = 1; k <= wanted; k++) {
    if (!(column[k] in at)) continue
    shown[++n] = at[column[k]]
    head = head " " column[k] " |"
    rule = rule "---|"
  }
  print head "\n" rule
  next
}
only != "" && $(at[test[1]]) != test[2] { next }
most && ++rows > most { more++; next }
{
  line = "|"
  for (k = 1; k <= n; k++) line = line " " cell($(shown[k])) " |"
  print line
}
END { if (more) printf "\n%d further rows are in the table.\n", more }
