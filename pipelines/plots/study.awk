# study.awk - tables of bam-passkey, SEED/MODEL-LENGTH.tsv, to one in Markdown: a line for each model and length, the share
# found for each seed, then that of all together with Wilson's 95 % interval.
#   awk -f study.awk -v context=N FILE...
BEGIN { FS = "\t"; z = 1.959963984540054 }
FNR == 1 {
  for (i = 1; i <= NF; i++) at[$i] = i
  n_parts = split(FILENAME, part, "/")
  seed = part[n_parts - 1]
  model = part[n_parts]
  sub(/-[^-]*\.tsv$/, "", model)
  if (!(seed in seen_seed)) { seen_seed[seed] = 1; seeds[++seed_count] = seed }
  next
}
$(at["depth"]) != "all" { next }
{
  row = model SUBSEP $(at["length"])
  if (!(row in seen_row)) { seen_row[row] = 1; rows[++row_count] = row; tokens[row] = $(at["real_length"]) }
  n[row] += $(at["n"])
  found[row] += $(at["successes"])
  cell[row, seed] = $(at["successes"]) "/" $(at["n"])
  share = $(at["successes"]) / $(at["n"])
  if (!(row in worst) || share < worst[row]) worst[row] = share
  sum[row] += share
  tried[row]++
}
END {
  printf "| model | length | tokens |"
  for (s = 1; s <= seed_count; s++) printf " seed %s |", seeds[s]
  printf " mean | worst | all | 95%% interval |\n|---|--:|--:|"
  for (s = 1; s <= seed_count; s++) printf "--:|"
  print "--:|--:|--:|---|"
  for (r = 1; r <= row_count; r++) {
    row = rows[r]
    split(row, part, SUBSEP)
    printf "| %s | %sx | %s |", part[1], part[2] / context, tokens[row]
    for (s = 1; s <= seed_count; s++) printf " %s |", cell[row, seeds[s]]
    p = found[row] / n[row]
    z2 = z * z / n[row]
    center = (p + z2 / 2) / (1 + z2)
    half = z * sqrt(p * (1 - p) / n[row] + z2 / (4 * n[row])) / (1 + z2)
    low = center - half < 0 ? 0 : center - half
    high = center + half > 1 ? 1 : center + half
    printf " %.1f%% | %.0f%% | %d/%d | %.1f to %.1f%% |\n", 100 * sum[row] / tried[row], 100 * worst[row], found[row], n[row], 100 * low, 100 * high
  }
}
