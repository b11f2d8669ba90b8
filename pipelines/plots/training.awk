# training.awk - how trainings ended, from logs of bam-train: a row for each log, in Markdown.
#   awk -f training.awk LOG.jsonl...
function number(name) {
  return match($0, "\"" name "\":[-+.e0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : ""
}
function word(name) {
  return match($0, "\"" name "\":\"[^\"]*\"") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : ""
}
function figures(text) { return text == "" ? "" : sprintf("%.4g", text) }
function row() {
  if (name != "") printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, number_step, tokens, figures(loss), figures(val_loss), figures(rate), device, version, seed
}
BEGIN {
  print "| name | steps | tokens | loss | validation loss | tokens a second | device | version | seed |"
  print "|---|---|---|---|---|---|---|---|---|"
}
FNR == 1 {
  row()
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/[.].*/, "", name)
  val_loss = ""
}
{
  number_step = number("step")
  tokens = number("tokens")
  loss = number("loss")
  rate = number("tokens_per_s")
  device = word("device")
  version = word("version")
  seed = word("seed")
  if (number("val_loss") != "") val_loss = number("val_loss")
}
END { row() }
