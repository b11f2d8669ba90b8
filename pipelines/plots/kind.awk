# kind.awk - for each file whose first line is the header row of a result table, or the first line of a training log: its
# kind, whether it has a column `name` (1 or 0), and the file. Tables of items are left out: --merge makes tables of them.
#   awk -f kind.awk FILE...
BEGIN {
  FS = "\t"
  n = split("passkey:needle_token,accuracy ruler:score,nulls mcq:acc_norm_se perplexity:bin,perplexity rolling:word_perplexity fit:verdict,ks tune:loss_best,loss_start classes:beta_median curves:probability,distance priors:beta,half top:rank,attention distance:uniform,attention keys:query,attention", rules, " ")
}
FNR == 1 {
  kind = ""
  if ($0 ~ /^\{"step":[0-9]+,/) kind = "training"
  split("", has)
  for (i = 1; i <= NF; i++) has[$i] = 1
  for (r = 1; r <= n && kind == ""; r++) {
    split(rules[r], rule, ":")
    wanted = split(rule[2], column, ",")
    found = 0
    for (c = 1; c <= wanted; c++) found += column[c] in has
    if (found == wanted) kind = rule[1]
  }
  if (kind != "") print kind, ("name" in has) + 0, FILENAME
  nextfile
}
