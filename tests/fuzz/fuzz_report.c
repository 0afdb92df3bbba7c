/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzz target: any bytes as a saved report. What is taken is written again, and
 * what was written is read and written with no change.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/read.h"
#include "report/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

/*
 * What the report comes to when it is read and written. Where it is not one,
 * *ret_err is not NULL, and what came before it is the result.
 */
static char *rewrite(const void *data, size_t size, size_t *ret_size,
		     struct error **ret_err)
{
	FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
	struct renderer json = { .ops = &render_json };
	struct report_record record;
	struct reader *reader;
	bool more = true;
	char *text = NULL;

	json.out = open_memstream(&text, ret_size);
	require(file != NULL && json.out != NULL);
	require(reader_create(file, "input", &reader) == NULL);
	report_record_init(&record);
	while ((*ret_err = reader_next(reader, &record, &more)) == NULL && more)
		require(record.type != REPORT_OTHER &&
			render_record(&json, &record) == NULL);
	report_record_deinit(&record);
	reader_close(reader);
	fclose(file);
	fclose(json.out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t once_size = 0, twice_size = 0;
	struct error *err;
	char *once, *twice;

	/* fmemopen(3) takes no empty buffer */
	if (size == 0)
		return 0;
	once = rewrite(data, size, &once_size, &err);
	if (err)
		require(err->kind == ERROR_FORMAT &&
			strncmp(error_message(err), "input:", 6) == 0);
	error_free(err);
	if (once_size > 0) {
		twice = rewrite(once, once_size, &twice_size, &err);
		require(err == NULL && once_size == twice_size &&
			memcmp(once, twice, once_size) == 0);
		free(twice);
	}
	free(once);
	return 0;
}
