# runs.awk - what the tables say of the runs that made them: a row for each file and run, in Markdown. Seconds are sums over
# rows that are not themselves sums (depth, bin or subject "all"), or the largest where every row has the time of the run.
#   awk -f runs.awk FILE...
BEGIN { FS = "\t"; count = split("model version device dtype reading seed", part, " ") }
FNR == 1 {
  split("", at)
  for (i = 1; i <= NF; i++) at[$i] = i
  file = FILENAME
  sub(/.*\//, "", file)
  whole = !("depth" in at || "score" in at || "subject" in at || "documents" in at)
  next
}
{
  key = file
  for (k = 1; k <= count; k++) key = key FS (part[k] in at ? $(at[part[k]]) : "")
  if (!(key in seen)) { seen[key] = 1; keys[++n] = key }
  if (!("seconds" in at) || $(at["seconds"]) == "") next
  timed[key] = 1
  s = $(at["seconds"])
  if (("depth" in at && $(at["depth"]) == "all") || ("subject" in at && $(at["subject"]) != "all")) next
  if (whole) { if (s > seconds[key]) seconds[key] = s } else seconds[key] += s
}
END {
  print "| table | model | version | device | dtype | reading | seed | seconds |\n|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= n; i++) {
    split(keys[i], cell, FS)
    printf "| %s | %s |", cell[1], substr(cell[2], 1, 12)
    for (k = 3; k <= count + 1; k++) printf " %s |", cell[k]
    printf " %s |\n", keys[i] in timed ? sprintf("%.1f", seconds[keys[i]]) : ""
  }
}
