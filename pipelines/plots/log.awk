# log.awk - a log of bam-train to columns of numbers: tokens and loss, means of so many steps that `points` (300) are left;
# with -v what=val_loss tokens and validation loss, where there is one.
#   awk -f log.awk [-v points=N] [-v what=val_loss] LOG.jsonl
function number(name) {
  return match($0, "\"" name "\":[-+.e0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "NaN"
}
{
  value = number(what == "" ? "loss" : what)
  if (value == "NaN") next
  tokens[++n] = number("tokens")
  values[n] = value
}
END {
  if (n == 0) print "NaN NaN"
  each = what == "" ? int((n + (points ? points : 300) - 1) / (points ? points : 300)) : 1
  for (i = 1; i <= n; i++) {
    sum += values[i]
    if (i % each && i < n) continue
    print tokens[i], sum / ((i - 1) % each + 1)
    sum = 0
  }
}
