/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The places of --at; see at.h.
 */
#include "sampling/at.h"

#include "base/error.h"
#include "base/vec.h"
#include "sampling/where.h"

struct error *at_check_count(const struct vec *words)
{
	if (words->count <= WHERE_MAX)
		return NULL;
	return error_create(ERROR_USAGE,
			    "--at is given %zu times: at most %d are possible",
			    words->count, WHERE_MAX);
}

struct error *at_parse(const struct vec *words, struct vec *ret)
{
	struct error *err = at_check_count(words);

	*ret = (struct vec)VEC_INIT(struct where);
	for (size_t i = 0; !err && i < words->count; i++) {
		struct where where;

		err = where_parse(*(const char **)vec_at(words, i), &where);
		if (!err && !vec_push(ret, &where)) {
			where_deinit(&where);
			err = error_nomem;
		}
	}
	return err;
}

void at_free(struct vec *places)
{
	for (size_t i = 0; i < places->count; i++)
		where_deinit(vec_at(places, i));
	vec_deinit(places);
}

struct error *at_check(const char *word)
{
	struct where where;
	struct error *err = where_parse(word, &where);

	if (!err)
		where_deinit(&where);
	return err;
}
