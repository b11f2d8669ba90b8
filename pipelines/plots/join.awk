# join.awk - tables of one kind to one: the columns of the first by their names, after the name that stands before each file.
#   awk -f join.awk name=A a.tsv name=B b.tsv
BEGIN { FS = OFS = "\t" }
FNR == 1 {
  split("", at)
  for (i = 1; i <= NF; i++) at[$i] = i
  if (columns) next
  columns = NF
  for (i = 1; i <= NF; i++) header[i] = $i
  print (name == "" ? "" : "name" OFS) $0
  next
}
{
  line = name
  for (i = 1; i <= columns; i++) line = line (i > 1 || name != "" ? OFS : "") (header[i] in at ? $(at[header[i]]) : "")
  print line
}
