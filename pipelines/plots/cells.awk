# cells.awk - of a table of bam-passkey, the cells of a heat map: length, depth, low, high, accuracy. Cells of one length meet
# halfway between two depths.
#   awk -v name=MODEL -f cells.awk TABLE.tsv      name is empty where the table has no such column
BEGIN { FS = OFS = "\t" }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "length", "depth", "low", "high", "accuracy"; next }
$at["depth"] == "all" || (name != "" && $at["name"] != name) { next }
{
  length_ = $at["length"]
  if (!(length_ in count)) order[++lengths] = length_
  n = ++count[length_]
  # Kept in order of depth.
  for (k = n; k > 1 && depth[length_, k - 1] + 0 > $at["depth"] + 0; k--) {
    depth[length_, k] = depth[length_, k - 1]
    accuracy[length_, k] = accuracy[length_, k - 1]
  }
  depth[length_, k] = $at["depth"]
  accuracy[length_, k] = $at["accuracy"]
}
END {
  for (l = 1; l <= lengths; l++) {
    length_ = order[l]
    for (k = 1; k <= count[length_]; k++) {
      low = k == 1 ? 0 : (depth[length_, k - 1] + depth[length_, k]) / 2
      high = k == count[length_] ? 1 : (depth[length_, k] + depth[length_, k + 1]) / 2
      print length_, depth[length_, k], low, high, accuracy[length_, k]
    }
  }
}
