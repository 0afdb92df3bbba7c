/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines in a sorter; see recordsort.h.
 */
#include "report/recordsort.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/read.h"
#include "report/render.h"
#include "report/sorter.h"

void recordsort_number(struct strbuf *key, uint64_t n)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(n >> (56 - 8 * i));
	strbuf_add_bytes(key, bytes, sizeof(bytes));
}

struct error *recordsort_line(const struct report_record *record, char **ret,
			      size_t *ret_size)
{
	struct renderer json = { .ops = &render_json };
	struct error *err;

	*ret = NULL;
	json.out = open_memstream(ret, ret_size);
	if (!json.out)
		return error_nomem;
	err = render_record(&json, record);
	if (fclose(json.out) != 0 && !err)
		err = error_nomem;
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

struct error *recordsort_add(struct sorter *sorter, struct strbuf *key,
			     const struct report_record *record)
{
	struct sorter_item item = { .size = 0 };
	struct error *err = key->failed ? error_nomem : NULL;
	char *line = NULL;

	if (!err)
		err = recordsort_line(record, &line, &item.size);
	if (!err) {
		item.key = (const uint8_t *)key->text;
		item.key_size = key->length;
		item.data = line;
		err = sorter_add(sorter, &item);
	}
	free(line);
	strbuf_deinit(key);
	return err;
}

struct error *recordsort_add_race(struct sorter *sorter, struct strbuf *key,
				  const struct race *race)
{
	struct report_record record = { .type = REPORT_RACE, .race = *race };

	return recordsort_add(sorter, key, &record);
}

struct error *recordsort_next(struct sorter *sorter,
			      struct report_record *record,
			      struct sorter_item *ret_item, bool *ret_more)
{
	struct error *err = sorter_next(sorter, ret_item, ret_more);

	if (err || !*ret_more)
		return err;
	return report_record_parse(ret_item->data, ret_item->size, record);
}
