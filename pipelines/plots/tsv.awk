# tsv.awk - a table of JSON lines, as the tools write it with --format jsonl, as one with tabs and a header row. Its objects
# are flat; null is an empty cell; \n, \t and \\ in a text mean there what they mean here.
#   awk -f tsv.awk FILE.jsonl
function fail(what) {
  print FILENAME ": line " FNR ": " what ", expected an object of a result table" >"/dev/stderr"
  exit failed = 1
}
# Takes a text with its quotes off the front of `rest`.
function text(  i, c, out) {
  if (substr(rest, 1, 1) != "\"") fail("no text where one must be")
  for (i = 2; ; ++i) {
    c = substr(rest, i, 1)
    if (c == "") fail("a text without an end")
    if (c == "\"") break
    if (c == "\\") {
      c = substr(rest, ++i, 1)
      if (c != "\"" && c != "/") c = "\\" c
    }
    out = out c
  }
  rest = substr(rest, i + 1)
  return out
}
{
  rest = $0
  n = 0
  if (rest !~ /^\{.*\}$/) fail("not an object")
  rest = substr(rest, 2)
  while (rest != "}") {
    if (n > 0 && sub(/^,/, "", rest) != 1) fail("no comma between members")
    name[++n] = text()
    if (sub(/^:/, "", rest) != 1) fail("no colon behind a name")
    if (rest ~ /^"/) cell[n] = text()
    else {
      if (!match(rest, /^[^,}\[{]+/)) fail("a member that is no text or number")
      cell[n] = substr(rest, 1, RLENGTH)
      rest = substr(rest, RLENGTH + 1)
      if (cell[n] == "null") cell[n] = ""
    }
  }
  line = names = ""
  for (i = 1; i <= n; ++i) {
    names = names (i > 1 ? "\t" : "") name[i]
    line = line (i > 1 ? "\t" : "") cell[i]
  }
  if (FNR == 1) print header = names
  else if (names != header) fail("other columns than in line 1")
  print line
}
END { exit failed }
