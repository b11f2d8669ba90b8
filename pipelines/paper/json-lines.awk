# json-lines.awk - a text to JSON lines, {"text": ...}: sixteen paragraphs a document, of `of` documents the one whose number
# leaves the rest `part`.
#   awk -f json-lines.awk -v of=N -v part=K FILE
BEGIN { RS = ""; quote = "\"" }
function flush() {
  if (text != "" && documents % of == part) print "{" quote "text" quote ":" quote text quote "}"
  if (text != "") documents++
  text = ""
}
{
  gsub(/["\\]/, "\\\\&")
  gsub(/[\001-\011\013-\037]/, " ")
  gsub(/\n/, "\\n")
  text = text (text == "" ? "" : "\\n\\n") $0
}
NR % 16 == 0 { flush() }
END { flush() }
