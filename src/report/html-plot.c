/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Curves and bars in the HTML report, as inline SVG; see html.h.
 */
#include <math.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "report/html.h"
#include "report/run.h"
#include "report/text.h"
#include "report/xml.h"

/* The drawing, in its own units; the page scales it. */
enum {
	PLOT_WIDTH = 560,
	PLOT_HEIGHT = 180,
	PLOT_LEFT = 52,
	PLOT_RIGHT = 12,
	PLOT_TOP = 12,
	PLOT_BOTTOM = 28,
	PLOT_TICKS = 4,
	/* points beyond this are drawn as the means of several */
	PLOT_POINTS = 240,
};

struct point {
	double x, y;
	bool starts; /* of another run: not joined to the one before */
	bool race; /* a race was found since the one before */
};

struct plot {
	const char *title, *unit;
	struct vec points; /* of struct point */
	double x_max, y_max;
	bool has_races;
};

/* 1, 2 or 5 times a power of ten: what people divide axes by. */
static double nice_step(double range, int ticks)
{
	double raw = range > 0 ? range / ticks : 1.0 / ticks;
	double power = pow(10, floor(log10(raw)));
	double part = raw / power;

	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static double plot_x(const struct plot *plot, double x)
{
	double width = PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT;

	return PLOT_LEFT + (plot->x_max > 0 ? width * x / plot->x_max : 0);
}

static double plot_y(const struct plot *plot, double y)
{
	double height = PLOT_HEIGHT - PLOT_TOP - PLOT_BOTTOM;

	return PLOT_HEIGHT - PLOT_BOTTOM -
	       (plot->y_max > 0 ? height * y / plot->y_max : 0);
}

static void add_axes(struct strbuf *out, struct plot *plot)
{
	double step = nice_step(plot->y_max, PLOT_TICKS);
	int steps = (int)ceil(plot->y_max / step + 1e-9);

	plot->y_max = step * steps;
	for (int i = 0; i <= steps; i++) {
		double at = plot_y(plot, i * step);

		strbuf_addf(out,
			    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" "
			    "y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" "
			    "y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
			    PLOT_LEFT, PLOT_WIDTH - PLOT_RIGHT, at, at,
			    PLOT_LEFT - 6, at + 4, i * step);
	}
	step = nice_step(plot->x_max, PLOT_TICKS + 2);
	steps = (int)floor(plot->x_max / step + 0.01);
	for (int i = 0; i <= steps; i++)
		strbuf_addf(out,
			    "<text x=\"%.1f\" y=\"%d\" "
			    "text-anchor=\"middle\">%.4g s</text>\n",
			    plot_x(plot, i * step), PLOT_HEIGHT - 10, i * step);
}

/* One stretch of points, i to end: the area below it, then the line. */
static void add_stretch(struct strbuf *out, const struct plot *plot, size_t i,
			size_t end)
{
	const struct point *first = vec_at(&plot->points, i);
	const struct point *last = vec_at(&plot->points, end - 1);

	for (int line = 0; line < 2; line++) {
		strbuf_addf(out, "<path class=\"%s\" d=\"",
			    line ? "curve" : "area");
		for (size_t p = i; p < end; p++) {
			const struct point *point = vec_at(&plot->points, p);

			strbuf_addf(out, "%c%.1f %.1f", p == i ? 'M' : 'L',
				    plot_x(plot, point->x),
				    plot_y(plot, point->y));
		}
		if (!line)
			strbuf_addf(out, "L%.1f %.1fL%.1f %.1fZ",
				    plot_x(plot, last->x), plot_y(plot, 0),
				    plot_x(plot, first->x), plot_y(plot, 0));
		strbuf_add(out, "\"/>\n");
	}
}

static void add_curve(struct strbuf *out, const struct plot *plot)
{
	size_t start = 0;

	for (size_t i = 1; i <= plot->points.count; i++) {
		const struct point *point = i < plot->points.count
						    ? vec_at(&plot->points, i)
						    : NULL;

		if (point && !point->starts)
			continue;
		add_stretch(out, plot, start, i);
		start = i;
	}
	for (size_t i = 0; i < plot->points.count; i++) {
		const struct point *point = vec_at(&plot->points, i);
		double x = plot_x(plot, point->x);

		if (point->race)
			strbuf_addf(out,
				    "<line class=\"event\" x1=\"%.1f\" "
				    "x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
				    x, x, PLOT_TOP - 6, PLOT_TOP + 6);
	}
}

static void add_plot(struct strbuf *out, struct plot *plot)
{
	strbuf_addf(out,
		    "<figure class=\"card\"><figcaption>%s%s</figcaption>\n"
		    "<svg viewBox=\"0 0 %d %d\" role=\"img\" "
		    "aria-label=\"%s over time, at most %.4g %s\">\n",
		    plot->title,
		    plot->has_races ? " <span class=\"soft\">(<span class="
				      "\"event\">|</span> a race was found)"
				      "</span>"
				    : "",
		    PLOT_WIDTH, PLOT_HEIGHT, plot->title, plot->y_max,
		    plot->unit);
	add_axes(out, plot);
	add_curve(out, plot);
	strbuf_add(out, "</svg></figure>\n");
}

/* Does a run begin with this one? The counts are those since its start. */
static bool is_first(const struct vec *progress, size_t i)
{
	const struct run_summary *at = vec_at(progress, i), *before;

	if (i == 0)
		return true;
	before = vec_at(progress, i - 1);
	return at->elapsed_ns <= before->elapsed_ns ||
	       at->stats.samples < before->stats.samples;
}

/* Of the time from `from' to i, both of one run. */
static bool add_point(struct plot *plot, const struct vec *progress,
		      size_t from, size_t i, bool overhead)
{
	static const struct run_summary zero;
	const struct run_summary *at = vec_at(progress, i);
	const struct run_summary *before = from == i ? &zero
						     : vec_at(progress, from);
	double seconds = (double)(at->elapsed_ns - before->elapsed_ns) / 1e9;
	struct point point = {
		.x = (double)at->elapsed_ns / 1e9,
		.starts = from == i,
		.race = at->races > before->races,
	};

	if (overhead)
		point.y = isfinite(at->overhead_pct) && at->overhead_pct > 0
				  ? at->overhead_pct
				  : 0;
	else if (seconds > 0 && at->stats.samples >= before->stats.samples)
		point.y = (double)(at->stats.samples - before->stats.samples) /
			  seconds;
	plot->x_max = fmax(plot->x_max, point.x);
	plot->y_max = fmax(plot->y_max, point.y);
	if (point.starts) {
		/* it is the mean since the start */
		struct point start = { .y = point.y, .starts = true };

		point.starts = false;
		if (!vec_push(&plot->points, &start))
			return false;
	}
	plot->has_races |= point.race;
	return vec_push(&plot->points, &point);
}

static void plot_progress(struct strbuf *out, struct plot *plot,
			  const struct vec *progress, bool overhead)
{
	size_t stride = progress->count / PLOT_POINTS + 1;
	size_t from = 0;

	for (size_t i = 0; i < progress->count; i++) {
		bool first = is_first(progress, i);
		bool last = i + 1 == progress->count ||
			    is_first(progress, i + 1);

		if (!first && !last && i - from < stride)
			continue;
		if (!add_point(plot, progress, first ? i : from, i, overhead))
			out->failed = true;
		from = i;
	}
	add_plot(out, plot);
	vec_deinit(&plot->points);
}

void html_add_curves(struct strbuf *out, const struct vec *progress)
{
	struct plot samples = {
		.title = "Samples in a second",
		.unit = "samples in a second",
		.points = VEC_INIT(struct point),
	};
	struct plot overhead = {
		.title = "Overhead so far, percent",
		.unit = "percent",
		.points = VEC_INIT(struct point),
	};

	/* a single point is no curve */
	if (progress->count < 2)
		return;
	strbuf_add(out, "<div class=\"plots\">\n");
	plot_progress(out, &samples, progress, false);
	plot_progress(out, &overhead, progress, true);
	strbuf_add(out, "</div>\n");
}

void html_add_coverage(struct strbuf *out, const struct vec *modules)
{
	if (modules->count == 0)
		return;
	strbuf_add(out, "<div class=\"card scroll\"><table class=\"bars\">"
			"<caption>Sites sampled of those that could be, as far "
			"as the code was decoded</caption>\n<tr><th>module</th>"
			"<th class=\"number\">sampled</th>"
			"<th class=\"number\">sites</th><th></th></tr>\n");
	for (size_t i = 0; i < modules->count; i++) {
		const struct html_module *module = vec_at(modules, i);
		double part = module->eligible > 0
				      ? 100.0 * (double)module->sampled /
						(double)module->eligible
				      : 0;

		strbuf_add(out, "<tr><td class=\"code\">");
		xml_add(out, module->path);
		strbuf_add(out, "</td><td class=\"number\">");
		text_add_count(out, module->sampled);
		strbuf_add(out, "</td><td class=\"number\">");
		text_add_count(out, module->eligible);
		part = fmin(part, 100);
		strbuf_addf(out,
			    "</td><td><span class=\"bar\" title=\"%.1f %%\">"
			    "<i style=\"width:%.1f%%\"></i></span></td></tr>\n",
			    part, part);
	}
	strbuf_add(out, "</table></div>\n");
}
