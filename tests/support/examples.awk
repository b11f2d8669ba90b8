# examples.awk - the commands that a page shows, as scripts DIR/FILE.LINE.sh, each example one. A comment on the line before
# an example, `not run: REASON`, makes it DIR/FILE.LINE.skip with the reason in it.
#   awk -v dir=DIR -f examples.awk PAGE
# Of Markdown: paragraphs that are indented by four blanks and what stands between ```; of mdoc: literal displays.
function begin(line) {
  n++
  suffix = reason == "" ? ".sh" : ".skip"
  name = dir "/" page "." sprintf("%04d", line) suffix
  if (reason != "") print reason > name
  open = 1
}
function put(text) { if (suffix == ".sh") print text > name }
function end() { if (open) close(name); open = 0; reason = "" }
FNR == 1 {
  page = FILENAME
  sub(/.*\//, "", page)
  mdoc = page ~ /\.[1-8]$/
}
# A reason stands for the example right behind it.
/not run: / && (/^\.\\"/ || /^<!--/) {
  reason = $0
  sub(/.*not run: /, "", reason)
  sub(/ *-->$/, "", reason)
  next
}
mdoc && /^\.Bd -literal/ { begin(FNR); next }
mdoc && /^\.Ed/ { end(); next }
mdoc {
  if (open) { gsub(/\\e/, "\\"); gsub(/\\-/, "-"); gsub(/\\&/, ""); put($0) }
  else if (!/^\./ || /^\.Sh/) reason = ""
  next
}
/^```/ { if (open) end(); else begin(FNR); fenced = open; next }
fenced { put($0); next }
/^    / { if (!open) begin(FNR); put(substr($0, 5)); next }
/^$/ { if (open) put(""); next }
{ end() }
END { end() }
