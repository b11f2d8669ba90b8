# page.awk - a page of the pipelines, in the Markdown that they write, to HTML in one file: headings, paragraphs, lists, tables,
# code, links, and pictures, whose SVG is put in.
#   awk -v dir=FOLDER -f page.awk FOLDER/README.md
function escape(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); gsub(/&amp;lt;/, "\\&lt;", text); return text }
# span - `code`, [links](to), arXiv numbers in <...> are left as text.
function span(text,    out, at, name, to) {
  text = escape(text)
  while (match(text, /`[^`]+`/)) text = substr(text, 1, RSTART - 1) "<code>" substr(text, RSTART + 1, RLENGTH - 2) "</code>" substr(text, RSTART + RLENGTH)
  while (match(text, /\[[^]]+\]\([^)]+\)/)) {
    out = substr(text, RSTART + 1, RLENGTH - 2)
    at = index(out, "](")
    name = substr(out, 1, at - 1)
    to = substr(out, at + 2)
    text = substr(text, 1, RSTART - 1) "<a href=\"" to "\">" name "</a>" substr(text, RSTART + RLENGTH)
  }
  return text
}
function close_block() { if (block != "") print "</" block ">"; block = "" }
function begin(kind) { if (block != kind) { close_block(); print "<" kind ">"; block = kind } }
# Every SVG of gnuplot has the same names and title; on one page each name may stand once.
function picture(file, title,    line, found, inside) {
  ++pictures
  while ((getline line < (dir "/" file)) > 0) {
    found = 1
    if (line ~ /^<svg/) inside = 1
    gsub(/ id=['"]/, "&p" pictures "-", line)
    gsub(/href=['"]#/, "&p" pictures "-", line)
    gsub(/url\(#/, "&p" pictures "-", line)
    if (line == "<title>Gnuplot</title>") line = "<title>" escape(title) "</title>"
    if (inside) print line
  }
  close(dir "/" file)
  if (!found) print "<p>" escape(file) "</p>"
}
function row(text, kind,    n, cell, i, out) {
  sub(/^\| */, "", text); sub(/ *\|$/, "", text)
  gsub(/\\\|/, "\001", text)
  n = split(text, cell, / *\| */)
  for (i = 1; i <= n; i++) { gsub(/\001/, "|", cell[i]); out = out "<" kind ">" span(cell[i]) "</" kind ">" }
  return "<tr>" out "</tr>"
}
BEGIN {
  print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
  print "<style>\nbody { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; line-height: 1.5 }"
  print "table { border-collapse: collapse; display: block; overflow-x: auto } th, td { border: 1px solid #ccc; padding: 0.2em 0.6em }\npre { background: #f4f4f4; padding: 0.6em } svg { max-width: 100% }\n</style>"
}
/^# / && !titled { titled = 1; print "<title>" escape(substr($0, 3)) "</title>\n</head>\n<body>" }
/^#+ / { close_block(); level = index($0, " ") - 1; print "<h" level ">" span(substr($0, level + 2)) "</h" level ">"; next }
/^!\[/ { close_block(); to = name = $0; sub(/^!\[[^]]*\]\(/, "", to); sub(/\).*/, "", to); sub(/^!\[/, "", name); sub(/\].*/, "", name); picture(to, name); next }
/^\|[-:| ]+\|$/ { next }
/^\|/ { kind = block == "table" ? "td" : "th"; begin("table"); print row($0, kind); next }
/^- / { if (item) print "</li>"; begin("ul"); item = 1; print "<li>" span(substr($0, 3)); next }
/^    / && block != "ul" { begin("pre"); print escape(substr($0, 5)); next }
/^$/ { if (item) print "</li>"; item = 0; close_block(); next }
{ if (block != "ul") begin("p"); print span($0) }
END { if (item) print "</li>"; close_block(); print "</body>\n</html>" }
