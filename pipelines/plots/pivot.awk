# pivot.awk - a table with a column of names to one in Markdown: a line for each name, a column for each value of another
# column in the order of their appearance, the means in the cells.
#   awk -f pivot.awk -v row=COLUMN -v column=COLUMN -v value=COLUMN [-v where=COLUMN=VALUE[,COLUMN=VALUE]] [-v scale=F]
#       [-v format=%.1f] [-v published=FILE -v table=NAME -v run=RUN] TABLE.tsv
# FILE has the columns table, run, encoding, column, value: a name that has values there gets a line more, "published".
function header() { for (i = 1; i <= NF; i++) at[$i] = i }
function wanted(    n, test, part, i) {
  n = split(where, test, ",")
  for (i = 1; i <= n; i++) { split(test[i], part, "="); if ($(at[part[1]]) != part[2]) return 0 }
  return 1
}
function line(name, cells, mark,    k) {
  printf "| %s |", name mark
  for (k = 1; k <= columns; k++) printf " %s |", (name, heads[k]) in cells ? sprintf(format, scale * cells[name, heads[k]]) : ""
  print ""
}
BEGIN {
  FS = "\t"
  if (format == "") format = "%.1f"
  if (scale == "") scale = 1
  if (published != "") {
    while ((getline < published) > 0) {
      if ($1 == table && $2 == run) { known[$3, $4] = $5 / scale; has[$3] = 1 }
    }
  }
}
FNR == 1 { header(); next }
wanted() {
  name = $(at[row]); head = $(at[column])
  if (!(name in seen)) { seen[name] = 1; names[++rows] = name }
  if (!(head in seen_head)) { seen_head[head] = 1; heads[++columns] = head }
  sum[name, head] += $(at[value]); n[name, head]++
}
END {
  if (rows == 0) exit
  for (key in sum) mean[key] = sum[key] / n[key]
  printf "| %s |", row
  for (k = 1; k <= columns; k++) printf " %s |", heads[k]
  printf "\n|---|"
  for (k = 1; k <= columns; k++) printf "--:|"
  print ""
  for (r = 1; r <= rows; r++) {
    line(names[r], mean, "")
    if (names[r] in has) line(names[r], known, ", published")
  }
}
