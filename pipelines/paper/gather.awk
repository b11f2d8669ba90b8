# gather.awk - tables of single models, .../SIZE/CONTEXT/ENCODING/SEED/NAME.tsv, to one, with what the model is before each row.
#   awk -f gather.awk FILE...
BEGIN { OFS = "\t" }
FNR == 1 {
  n = split(FILENAME, part, "/")
  if (header != "" && $0 != header) { print FILENAME ": its columns are not those of the tables before it" > "/dev/stderr"; status = 1; exit }
  if (header == "") print "size", "trained_at", "encoding", "training_seed", $0
  header = $0
  next
}
{ print part[n - 4], part[n - 3], part[n - 2], part[n - 1], $0 }
END { exit status }
