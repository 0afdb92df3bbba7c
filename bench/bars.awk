# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f bars.awk -v title=T -v xname=X [-v logx=1] [-v most=X]
# [-v mark=X -v marked=TEXT] FILE: lines "NAME SERIES VALUE [LOW HIGH]" (blanks
# of names are written _) as horizontal bars in SVG, in the order of the file,
# with whiskers from LOW to HIGH. A VALUE with > before it is a lower bound: its
# bar is hollow. The axis ends at `most', else at the greatest; mark is a dashed
# line across, a target.

function fx(x) {
	if (logx)
		return left + width * log((x > xmin ? x : xmin) / xmin) / \
			log(xmax / xmin)
	return left + width * (x - xmin) / (xmax - xmin)
}

function escaped(text) {
	gsub(/_/, " ", text)
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	return text
}

function line(x1, y1, x2, y2, style) {
	printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", \
		x1, y1, x2, y2, style
}

function label(x, y, anchor, text, more) {
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", \
		x, y, anchor, more, escaped(text)
}

# The largest of 1, 2, 5 times a power of ten that is not above.
function round_down(x,   power) {
	power = 10 ^ int(log(x) / log(10) - (x < 1 ? 0.9999999 : 0))
	return power * (x >= 4.9999 * power ? 5 : x >= 1.9999 * power ? 2 : 1)
}

function tick(x) {
	line(fx(x), top, fx(x), top + height, "stroke=\"#ddd\"")
	label(fx(x), top + height + 16, "middle", sprintf("%.4g", x), "")
}

function axis(   x, step) {
	if (logx) {
		for (x = 10 ^ int(log(xmin) / log(10) - 1); x <= xmax * 1.001; x *= 10)
			if (x >= xmin * 0.999)
				tick(x)
		return
	}
	step = round_down((xmax - xmin) / 4)
	for (x = xmin; x <= xmax + step / 100; x += step)
		tick(x)
}

function bar(i, s,   key, y, x, colour) {
	key = i SUBSEP s
	if (!(key in values))
		return
	y = top + groups[i] + thick * (s - 1) + 1
	x = fx(values[key])
	colour = colours[(s - 1) % 5 + 1]
	printf "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" " \
		"fill=\"%s\" stroke=\"%s\"/>\n", left, y, x - left, thick - 2, \
		(key in open) ? "none" : colour, colour
	if (key in lows)
		line(fx(lows[key]), y + thick / 2 - 1, fx(highs[key]), \
			y + thick / 2 - 1, "stroke=\"#222\" stroke-width=\"1.5\"")
}

function frame(   i, s) {
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" " \
		"height=\"%d\" viewBox=\"0 0 %d %d\" " \
		"font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n", \
		left + width + 180, top + height + 50, left + width + 180, \
		top + height + 50
	print "<title>" escaped(title) "</title>"
	printf "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", \
		left + width + 180, top + height + 50
	label(left, 22, "start", title, "font-size=\"14\" font-weight=\"bold\"")
	axis()
	label(left + width / 2, top + height + 38, "middle", xname, "")
	for (i = 1; i <= count; i++)
		label(left - 6, top + groups[i] + thick * series / 2 + 4, "end", \
			names[i], "")
	for (s = 1; s <= series; s++) {
		printf "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"10\" " \
			"fill=\"%s\"/>\n", left + width + 14, top + 20 * s - 14, \
			colours[(s - 1) % 5 + 1]
		label(left + width + 34, top + 20 * s - 5, "start", \
			series_names[s], "")
	}
}

BEGIN {
	left = 70; top = 36; width = 420
	split("#0b62a4 #c2410c #2e7d32 #7b1fa2 #555555", colours, " ")
}

NF >= 3 {
	if (!($1 in known)) {
		names[++count] = $1
		known[$1] = count
		if (length($1) * 7.5 + 14 > left)
			left = length($1) * 7.5 + 14
	}
	if (!($2 in known_series)) {
		series_names[++series] = $2
		known_series[$2] = series
	}
	key = known[$1] SUBSEP known_series[$2]
	if ($3 ~ /^>/)
		open[key] = 1
	sub(/^>/, "", $3)
	values[key] = $3 + 0
	if (NF > 4) {
		lows[key] = $4 + 0
		highs[key] = $5 + 0
	}
	high = NF > 4 ? $5 + 0 : $3 + 0
	xmax = high > xmax ? high : xmax
	if ($3 + 0 > 0 && (!least || $3 + 0 < least))
		least = $3 + 0
}

END {
	if (!count)
		exit 1
	if (most != "")
		xmax = most
	if (mark != "" && mark > xmax)
		xmax = mark
	if (!xmax)
		xmax = 1
	xmin = logx ? round_down(least) / 2 : 0
	thick = series > 1 ? 10 : 12
	for (i = 1; i <= count; i++)
		groups[i] = 4 + (i - 1) * (thick * series + 6)
	height = 4 + count * (thick * series + 6)
	frame()
	for (i = 1; i <= count; i++)
		for (s = 1; s <= series; s++)
			bar(i, s)
	line(left, top, left, top + height, "stroke=\"#222\"")
	if (mark != "") {
		line(fx(mark), top, fx(mark), top + height, \
			"stroke=\"#b00020\" stroke-dasharray=\"6 4\"")
		label(fx(mark) + 4, top - 3, "start", marked, "fill=\"#b00020\"")
	}
	print "</svg>"
}
