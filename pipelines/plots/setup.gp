# setup.gp - what the plots of this folder share; each loads it first, and is used so:
#   gnuplot -e "table='TABLE.tsv'; picture='NAME.svg'" PLOT.gp
# The suffix of `picture` chooses the format: .svg, .png or .pdf. `title` goes above.
if (!exists("table")) { print "table is missing, expected -e \"table='FILE'; picture='NAME.svg'\""; exit status 2 }
if (!exists("picture")) { print "picture is missing, expected -e \"table='FILE'; picture='NAME.svg'\""; exit status 2 }
if (!exists("title")) title = ""
if (!exists("wide")) wide = 760
if (!exists("high")) high = 420
suffix = picture[strlen(picture) - 3:]
if (suffix eq ".png") { set terminal pngcairo size wide, high } \
else { if (suffix eq ".pdf") { set terminal pdfcairo size wide / 100.0, high / 100.0 } \
else { set terminal svg size wide, high background "white" font "sans-serif,12" } }
set output picture
set encoding utf8
set termoption noenhanced
set datafile separator "\t"
set datafile columnheaders
set datafile missing NaN
set title title
set grid linecolor "#dddddd"
set key outside right top

array colour[12] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#332288", "#882255", "#44aa99", "#999933", "#aa4499", "#777777"]
shade(i) = colour[(i - 1) % 12 + 1]

# values(C) - what the column C of the table holds, each value once, with blanks between; nothing without such a column.
values(c) = system("awk -F'\\t' -v c='".c."' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) k = i; next } k && !seen[$k]++ { printf \"%s \", $k }' '".table."'")
# The place of a value in such a list, from 1.
place(value, list) = sum [i = 1:words(list)] (word(list, i) eq value ? i : 0)
