/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of a file to records; see read.h.
 */
#include "report/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"

enum {
	BLOCK_SIZE = 1 << 16,
	/* malformed records that are named, of each file */
	MALFORMED_NAMED = 10,
};

struct reader {
	FILE *file;
	bool close; /* the file is ours */
	char *name;
	uint64_t line; /* number of the one in text */
	struct strbuf text; /* without the newline */
	bool ended; /* the text is the last, and has no newline */
	bool skips; /* malformed records are reported and skipped: */
	uint64_t malformed;
	size_t start, end; /* of what is not yet used in block */
	char block[BLOCK_SIZE];
};

struct error *reader_create(FILE *file, const char *name, struct reader **ret)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return error_nomem;
	reader->file = file;
	reader->name = strdup(name);
	if (!reader->name) {
		free(reader);
		return error_nomem;
	}
	*ret = reader;
	return NULL;
}

struct error *reader_open(const char *path, struct reader **ret)
{
	struct error *err;
	FILE *file;

	if (strcmp(path, "-") == 0)
		return reader_create(stdin, "standard input", ret);
	file = fopen(path, "re");
	if (!file)
		return error_os(errno, "%s", path);
	err = reader_create(file, path, ret);
	if (err)
		fclose(file);
	else
		(*ret)->close = true;
	return err;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	if (reader->close)
		fclose(reader->file);
	strbuf_deinit(&reader->text);
	free(reader->name);
	free(reader);
}

void reader_skip_malformed(struct reader *reader)
{
	reader->skips = true;
}

uint64_t reader_malformed(const struct reader *reader)
{
	return reader->malformed;
}

const char *reader_name(const struct reader *reader)
{
	return reader->name;
}

/* Have something in the block; at the end of the file, nothing. */
static struct error *fill_block(struct reader *reader)
{
	if (reader->start < reader->end || reader->ended)
		return NULL;
	errno = 0;
	reader->start = 0;
	reader->end =
		fread(reader->block, 1, sizeof(reader->block), reader->file);
	if (ferror(reader->file))
		return error_os(errno ? errno : EIO, "%s", reader->name);
	reader->ended = reader->end == 0;
	return NULL;
}

/* Move what the block has of the line to the text; true when that is all. */
static bool take_part(struct reader *reader)
{
	const char *part = reader->block + reader->start;
	size_t length = reader->end - reader->start;
	const char *newline = memchr(part, '\n', length);

	if (newline)
		length = (size_t)(newline - part);
	strbuf_add_bytes(&reader->text, part, length);
	reader->start += length + (newline != NULL);
	return newline != NULL;
}

static struct error *read_line(struct reader *reader)
{
	struct error *err;

	strbuf_clear(&reader->text);
	reader->line++;
	do {
		err = fill_block(reader);
		if (err)
			return err;
		if (reader->text.failed)
			return error_nomem;
		if (reader->text.length > READER_LINE_MAX)
			return error_create(ERROR_FORMAT,
					    "%s:%" PRIu64 ": this line is "
					    "longer than any of a report",
					    reader->name, reader->line);
	} while (!reader->ended && !take_part(reader));
	return NULL;
}

static bool is_blank(const struct strbuf *text)
{
	for (size_t i = 0; i < text->length; i++) {
		if (!strchr(" \t\r", text->text[i]) || !text->text[i])
			return false;
	}
	return true;
}

/* Where the file ends: the beginning of a record, but not all of it. */
static bool is_cut_short(const struct reader *reader, const struct error *err)
{
	return reader->ended && err->code == EBADMSG &&
	       reader->text.text[0] == '{';
}

/* Is it an error that the other lines have nothing to do with? Then say it. */
static bool is_skipped(struct reader *reader, struct error *err)
{
	if (!reader->skips || err->code != EINVAL)
		return false;
	if (++reader->malformed <= MALFORMED_NAMED)
		log_error("%s:%" PRIu64 ": %s; this record is left out",
			  reader->name, reader->line, error_message(err));
	error_free(err);
	return true;
}

struct error *reader_next(struct reader *reader, struct report_record *record,
			  bool *ret_more)
{
	struct error *err;

	do {
		if (reader->ended)
			goto end;
		err = read_line(reader);
		if (err)
			return err;
		if (is_blank(&reader->text))
			continue;
		err = report_record_parse(reader->text.text,
					  reader->text.length, record);
		if (err && is_cut_short(reader, err)) {
			error_free(err);
			log_warn("%s:%" PRIu64 ": the last line is cut short; "
				 "what is before it counts",
				 reader->name, reader->line);
			goto end;
		}
		if (err && is_skipped(reader, err))
			continue;
		if (err)
			return error_wrap(err, "%s:%" PRIu64, reader->name,
					  reader->line);
	} while (is_blank(&reader->text) || record->type == REPORT_OTHER);
	*ret_more = true;
	return NULL;
end:
	report_record_deinit(record);
	*ret_more = false;
	return NULL;
}
