# html.awk - the Markdown that pipelines/report writes to HTML: headings, tables, lists, pictures, links, code.
#   awk -f html.awk -v title=TEXT PAGE.md
function inline(text,    out, part) {
  gsub(/&/, "\\&amp;", text)
  gsub(/&amp;lt;/, "\\&lt;", text)
  gsub(/</, "\\&lt;", text)
  out = ""
  while (match(text, /`[^`]*`|!?\[[^]]*\]\([^)]*\)/)) {
    out = out substr(text, 1, RSTART - 1)
    part = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    out = out (part ~ /^`/ ? "<code>" substr(part, 2, length(part) - 2) "</code>" : link(part))
  }
  return out text
}
function link(part,    split_at, words, target) {
  split_at = index(part, "](")
  words = substr(part, index(part, "[") + 1, split_at - index(part, "[") - 1)
  target = substr(part, split_at + 2, length(part) - split_at - 2)
  return part ~ /^!/ ? "<img src=\"" target "\" alt=\"" words "\">" : "<a href=\"" target "\">" words "</a>"
}
function state(next_one) {
  if (now == next_one) return
  if (now != "") print "</" now ">"
  if (next_one != "") print "<" next_one ">"
  now = next_one
  rows = 0
}
BEGIN {
  print "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" title "</title><style>"
  print "body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; line-height: 1.4 }"
  print "table { border-collapse: collapse; margin: 1em 0 } td, th { padding: 0.15em 0.7em; border-bottom: 1px solid #ddd; text-align: left }"
  print "img { max-width: 100% } code { background: #f3f3f3 }\n</style></head><body>"
}
/^#/ { state(""); depth = index($0, " ") - 1; print "<h" depth ">" inline(substr($0, depth + 2)) "</h" depth ">"; next }
/^\|[-: |]+\|$/ { next }
/^\|/ {
  state("table")
  tag = rows++ ? "td" : "th"
  line = substr($0, 2, length($0) - 2)
  gsub(/\\\|/, "\001", line)
  cells = split(line, cell, "|")
  row = "<tr>"
  for (i = 1; i <= cells; i++) {
    gsub(/^ +| +$/, "", cell[i])
    gsub(/\001/, "|", cell[i])
    row = row "<" tag ">" inline(cell[i]) "</" tag ">"
  }
  print row "</tr>"
  next
}
/^- / { state("ul"); print "<li>" inline(substr($0, 3)); next }
/^  / && now == "ul" { print inline($0); next }
/^$/ { state(""); next }
{ state("p"); print inline($0) }
END { state(""); print "</body></html>" }
