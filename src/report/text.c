/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of text; see text.h.
 */
#include "report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "report/folding.h"
#include "report/frame.h"
#include "report/path.h"
#include "report/render.h"

enum { TEXT_WIDTH_MIN = 40 };

struct text text_begin(const struct renderer *renderer)
{
	struct text text = { .file = renderer->out, .style = renderer->style };

	if (renderer->style.paths)
		text.folder = get_current_dir_name();

	return text;
}

struct error *text_end(struct text *text)
{
	struct error *err = NULL;

	errno = 0;
	if (text->out.failed)
		err = error_nomem;
	else if (fputs(strbuf_text(&text->out), text->file) < 0 ||
		 fflush(text->file) != 0)
		err = error_os(errno ? errno : EIO, "write the report");
	free(text->folder);
	strbuf_deinit(&text->line);
	strbuf_deinit(&text->out);
	return err;
}

/*
 * Bytes of line to go before the fold, which is at the last space that leaves
 * no more than `columns', or at the first one there is; 0: no fold.
 */
static size_t fold_at(const char *line, size_t columns)
{
	size_t best = 0;

	if (utf8_columns(line, SIZE_MAX) <= columns)
		return 0;
	for (const char *at = line; *at; at++) {
		size_t length = (size_t)(at - line);

		if (*at != ' ' || length == 0 || at[-1] == ' ')
			continue;
		if (best && utf8_columns(line, length) > columns)
			break;
		best = length;
	}
	return best;
}

void text_end_line(struct text *text, int indent, int more)
{
	const char *line = strbuf_text(&text->line);

	for (;;) {
		size_t cut = 0;

		if (text->style.width >= TEXT_WIDTH_MIN)
			cut = fold_at(line,
				      (size_t)(text->style.width - indent));
		strbuf_addf(&text->out, "%*s", indent, "");
		if (!cut)
			break;
		strbuf_add_bytes(&text->out, line, cut);
		strbuf_add(&text->out, "\n");
		line += cut + strspn(line + cut, " ");
		indent += more;
		more = 0;
	}
	strbuf_addf(&text->out, "%s\n", line);
	if (text->line.failed)
		text->out.failed = true;
	strbuf_clear(&text->line);
}

void text_set_color(struct text *text, const char *sgr)
{
	if (text->style.color)
		strbuf_addf(&text->line, "\033[%sm", sgr);
}

void text_reset_color(struct text *text)
{
	if (text->style.color)
		strbuf_add(&text->line, "\033[0m");
}

void text_pad(struct text *text, size_t start, int columns)
{
	size_t used = utf8_columns(strbuf_text(&text->line) + start, SIZE_MAX);

	if (used < (size_t)columns)
		strbuf_addf(&text->line, "%*s", columns - (int)used, "");
}

size_t text_folds(const struct text *text, const struct vec *frames, size_t at)
{
	return text->style.full_stacks ? 1 : folding_count(frames, at);
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void text_add_place(struct strbuf *line, const char *file, int number)
{
	utf8_add_visible(line, text_base_name(file));
	if (number)
		strbuf_addf(line, ":%d", number);
}

void text_add_frame_place(const struct text *text, struct strbuf *line,
			  const struct race_frame *frame)
{
	if (!text->style.paths || !race_frame_is_own(frame)) {
		text_add_place(line, frame->file, frame->line);
		return;
	}
	path_add(line, frame->file, text->folder);
	if (frame->line > 0)
		strbuf_addf(line, ":%d", frame->line);
	if (frame->line > 0 && frame->column > 0)
		strbuf_addf(line, ":%d", frame->column);
}

void text_add_offset(struct strbuf *line, const char *module, uint64_t offset)
{
	if (module) {
		utf8_add_visible(line, text_base_name(module));
		if (offset == 0)
			return;
		strbuf_add(line, "+");
	}
	strbuf_addf(line, "0x%" PRIx64, offset);
}

void text_add_count(struct strbuf *line, uint64_t n)
{
	uint64_t unit = 1;

	while (n / unit >= 1000)
		unit *= 1000;
	strbuf_addf(line, "%" PRIu64, n / unit);
	while (unit > 1) {
		unit /= 1000;
		strbuf_addf(line, " %03u", (unsigned int)(n / unit % 1000));
	}
}

void text_add_plural(struct strbuf *line, uint64_t n, const char *what)
{
	text_add_count(line, n);
	strbuf_addf(line, " %s%s", what, n == 1 ? "" : "s");
}

void text_add_time(struct strbuf *line, uint64_t ns)
{
	/* as JSON has it, so that a saved report says the same */
	ns = (ns + CLOCK_NS_PER_US / 2) / CLOCK_NS_PER_US * CLOCK_NS_PER_US;
	if (ns < CLOCK_NS_PER_MS / 10)
		strbuf_addf(line, "%.0f us", (double)ns / 1e3);
	else if (ns < CLOCK_NS_PER_S)
		strbuf_addf(line, "%.1f ms", (double)ns / 1e6);
	else
		strbuf_addf(line, "%.1f s", (double)ns / 1e9);
}

void text_add_quoted(struct strbuf *line, const char *name)
{
	if (!name)
		return;
	strbuf_add(line, " \"");
	utf8_add_visible(line, name);
	strbuf_add(line, "\"");
}

void text_add_bracketed(struct strbuf *line, const char *text)
{
	if (!text)
		return;
	strbuf_add(line, " (");
	utf8_add_visible(line, text);
	strbuf_add(line, ")");
}
