# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -f plot.awk -v title=T -v xname=X -v yname=Y [-v logx=1] [-v logy=1]
# [-v mark=Y -v marked=TEXT] [-v round=1] FILE: lines "SERIES X MEDIAN LOW HIGH"
# (a series' blanks are written _) as a plot in SVG, with whiskers from LOW to
# HIGH; mark is a dashed line across, a target. The X of the points are marked
# below, or with `round' round numbers.

function fx(x) {
	return left + width * (logx ? log(x / xmin) / log(xmax / xmin) : \
		(x - xmin) / (xmax - xmin))
}

function fy(y) {
	if (logy && y < ymin)
		y = ymin
	return top + height * (1 - (logy ? log(y / ymin) / log(ymax / ymin) : \
		(y - ymin) / (ymax - ymin)))
}

function escaped(text) {
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
function round_down(y,   power) {
	power = 10 ^ int(log(y) / log(10) - (y < 1 ? 0.9999999 : 0))
	return power * (y >= 4.9999 * power ? 5 : y >= 1.9999 * power ? 2 : 1)
}

function round_up(y,   low) {
	low = round_down(y)
	if (low >= y * 0.9999)
		return low
	return low ~ /^[0-9.]*2/ && low !~ /[13-9]/ ? low * 2.5 : low * 2
}

function tick_y(y) {
	line(left, fy(y), left + width, fy(y), "stroke=\"#ddd\"")
	label(left - 6, fy(y) + 4, "end", sprintf("%.4g", y), "")
}

function axis_y(   y, step, k) {
	if (logy) {
		for (y = 10 ^ int(log(ymin) / log(10) - 1); y <= ymax * 1.001; y *= 10)
			for (k = 1; k <= 5; k += k == 2 ? 3 : 1)
				if (k != 3 && k * y >= ymin * 0.999 && k * y <= ymax * 1.001 &&
				    (k == 1 || ymax / ymin < 200))
					tick_y(k * y)
	} else {
		step = round_down((ymax - ymin) / 4)
		for (y = step * int(ymin / step + 0.999); y <= ymax + step / 100; y += step)
			tick_y(y)
	}
}

function tick_x(x) {
	line(fx(x), top + height, fx(x), top + height + 5, "stroke=\"#222\"")
	label(fx(x), top + height + 18, "middle", x, "")
}

function axis_x(   x, step, i) {
	if (!round) {
		for (i = 1; i <= tick_count; i++)
			tick_x(order[i])
		return
	}
	step = round_down((xmax - xmin) / 4)
	for (x = step * int(xmin / step + 0.999); x <= xmax; x += step)
		tick_x(x)
}

BEGIN {
	left = 70; top = 40; width = 420; height = 220
	split("#0b62a4 #c2410c #2e7d32 #7b1fa2 #555555", colours, " ")
}

NF >= 3 {
	if (!($1 in count))
		names[++series] = $1
	n = ++count[$1]
	xs[$1, n] = $2
	ys[$1, n] = $3
	lows[$1, n] = NF > 4 ? $4 : $3
	highs[$1, n] = NF > 4 ? $5 : $3
	if (!($2 in ticks)) {
		ticks[$2] = 1
		order[++tick_count] = $2
	}
	if (!points++) {
		xmin = xmax = $2
		ymin = lows[$1, n]
		ymax = highs[$1, n]
	}
	xmin = $2 < xmin ? $2 : xmin
	xmax = $2 > xmax ? $2 : xmax
	ymin = lows[$1, n] < ymin ? lows[$1, n] : ymin
	ymax = highs[$1, n] > ymax ? highs[$1, n] : ymax
}

END {
	if (!points)
		exit 1
	if (mark != "") {
		ymax = mark > ymax ? mark : ymax
		ymin = mark < ymin ? mark : ymin
	}
	if (xmin == xmax)
		xmax = logx ? xmin * 2 : xmin + 1
	if (logy) {
		ymin = round_down(ymin > ymax / 1e6 ? ymin : ymax / 1e6)
		ymax = round_up(ymax)
		if (ymin == ymax)
			ymax *= 10
	} else {
		ymin = ymin > 0 && ymin > ymax * 0.5 ? ymin - (ymax - ymin) / 4 : 0
		ymax = ymax > ymin ? ymax + (ymax - ymin) * 0.05 : ymin + 1
	}
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" " \
		"height=\"320\" viewBox=\"0 0 660 320\" " \
		"font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">"
	print "<title>" escaped(title) "</title>"
	print "<rect width=\"660\" height=\"320\" fill=\"white\"/>"
	label(left, 22, "start", title, "font-size=\"14\" font-weight=\"bold\"")
	axis_y()
	axis_x()
	line(left, top + height, left + width, top + height, "stroke=\"#222\"")
	line(left, top, left, top + height, "stroke=\"#222\"")
	label(left + width / 2, top + height + 40, "middle", xname, "")
	label(0, 0, "middle", yname, sprintf( \
		"transform=\"translate(18 %d) rotate(-90)\"", top + height / 2))
	if (mark != "") {
		line(left, fy(mark), left + width, fy(mark), \
			"stroke=\"#b00020\" stroke-dasharray=\"6 4\"")
		label(left + width - 4, fy(mark) - 5, "end", marked, \
			"fill=\"#b00020\"")
	}
	for (s = 1; s <= series; s++) {
		name = names[s]
		colour = colours[(s - 1) % 5 + 1]
		path = ""
		for (i = 1; i <= count[name]; i++) {
			x = fx(xs[name, i])
			y = fy(ys[name, i])
			path = path sprintf("%.1f,%.1f ", x, y)
			line(x, fy(lows[name, i]), x, fy(highs[name, i]), \
				"stroke=\"" colour "\" opacity=\"0.5\" stroke-width=\"3\"")
			printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", \
				x, y, colour
		}
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" " \
			"points=\"%s\"/>\n", colour, path
		line(left + width + 14, top + 20 * s - 4, left + width + 34, \
			top + 20 * s - 4, "stroke=\"" colour "\" stroke-width=\"3\"")
		gsub(/_/, " ", name)
		label(left + width + 40, top + 20 * s, "start", name, "")
	}
	print "</svg>"
}
