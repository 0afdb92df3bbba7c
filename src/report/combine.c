/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Combining races; see combine.h. Each member is combined by an operation that
 * is commutative and associative by itself: a sum, a union, a minimum of a total
 * order. Cutting the value pairs down keeps that property only because which
 * ones stay does not depend on their counts.
 */
#include "report/combine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/doubt.h"
#include "report/field.h"
#include "report/places.h"
#include "report/race.h"
#include "report/recordsort.h"

/* In a key, of race_places(): behind the fingerprint and a byte of bits. */
enum { PLACES_AT = COMBINE_KEY_SIZE - sizeof(uint64_t) };

struct error *race_key(struct race *race, uint8_t key[COMBINE_KEY_SIZE])
{
	const uint64_t places = race_places(race);

	if (!race->fingerprint[0] && !race_fingerprint(race))
		return error_nomem;
	memset(key, 0, COMBINE_KEY_SIZE);
	memcpy(key, race->fingerprint, strlen(race->fingerprint));
	key[PLACES_AT - 1] = (uint8_t)((race->verdict == VERDICT_SYNC) |
				       !!race->suppressed.rule << 1);
	memcpy(key + PLACES_AT, &places, sizeof(places));
	return NULL;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int order_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* NULL comes first. */
static int order_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

struct error *race_add_host(struct race *race, const char *name)
{
	return fields_add_string(&race_fields, "hosts", race, name)
		       ? NULL
		       : error_nomem;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_hosts(struct vec *hosts)
{
	size_t kept = 0;

	if (hosts->count == 0)
		return;
	qsort(hosts->items, hosts->count, sizeof(char *), compare_names);
	for (size_t i = 1; i < hosts->count; i++) {
		char **last = vec_at(hosts, kept), **name = vec_at(hosts, i);

		if (strcmp(*last, *name) == 0)
			free(*name);
		else
			*(char **)vec_at(hosts, ++kept) = *name;
	}
	hosts->count = kept + 1;
}

static int compare_values(const void *a, const void *b)
{
	const struct race_values *one = a, *two = b;
	int order = memcmp(one->before, two->before, sizeof(one->before));

	return order ? order
		     : memcmp(one->after, two->after, sizeof(one->after));
}

/* Sort the pairs, add up equal ones, and leave as many as a race keeps. */
static void settle_values(struct vec *values)
{
	size_t kept = 0;

	if (values->count == 0)
		return;
	qsort(values->items, values->count, values->size, compare_values);
	for (size_t i = 1; i < values->count; i++) {
		struct race_values *last = vec_at(values, kept);
		const struct race_values *next = vec_at(values, i);

		if (compare_values(last, next) == 0)
			last->count = add(last->count, next->count);
		else
			*(struct race_values *)vec_at(values, ++kept) = *next;
	}
	values->count = kept + 1 < RACE_VALUES_MAX ? kept + 1 : RACE_VALUES_MAX;
}

/*
 * Values of another size are of another variable with the same name. The wider
 * access is the one shown, so that which ones stay does not depend on the
 * order.
 */
static struct error *combine_values(struct race *race, struct race *other)
{
	if (race->size != other->size)
		return NULL;
	if (!vec_reserve(&race->values,
			 race->values.count + other->values.count))
		return error_nomem;
	for (size_t i = 0; i < other->values.count; i++)
		vec_push(&race->values, vec_at(&other->values, i));
	settle_values(&race->values);
	return NULL;
}

struct error *race_normalize(struct race *race)
{
	if (race->runs == 0)
		race->runs = 1;
	if (race->last_time < race->time)
		race->last_time = race->time;
	sort_hosts(&race->hosts);
	settle_values(&race->values);
	return NULL;
}

/* Tops of the two stacks whose line is known. */
static uint64_t known_tops(const struct race *race)
{
	uint64_t known = 0;

	for (int i = 0; i < 2; i++) {
		const struct vec *frames = &race->sides[i].frames;
		const struct race_frame *top = frames->count ? vec_at(frames, 0)
							     : NULL;

		known += top && top->line > 0;
	}
	return known;
}

static uint64_t stack_depth(const struct race *race)
{
	return race->sides[0].frames.count + race->sides[1].frames.count;
}

/*
 * The race as it is written, less what is merged otherwise; the caller frees
 * it. NULL when there is no memory.
 */
static char *sighting_text(const struct race *race)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct error *err;

	if (!out)
		return NULL;
	err = fields_write_shown(&race_fields, race, out);
	if (fclose(out) != 0 || err) {
		error_free(err);
		free(text);
		return NULL;
	}
	return text;
}

static struct error *order_texts_of(const struct race *a, const struct race *b,
				    int *ret)
{
	char *one = sighting_text(a), *two = sighting_text(b);
	struct error *err = one && two ? NULL : error_nomem;

	if (!err)
		*ret = strcmp(one, two);
	free(one);
	free(two);
	return err;
}

/* Negative: a is the better one to show; 0: they are the same. */
static struct error *order_sightings(const struct race *a, const struct race *b,
				     int *ret)
{
	const int orders[] = {
		order_numbers(b->size, a->size),
		order_numbers(known_tops(b), known_tops(a)),
		order_numbers(stack_depth(a), stack_depth(b)),
		order_numbers(a->elapsed_ns, b->elapsed_ns),
		order_numbers(a->stall_ns, b->stall_ns),
		order_numbers(a->address, b->address),
		order_numbers((uint64_t)a->sides[0].tid,
			      (uint64_t)b->sides[0].tid),
		order_numbers((uint64_t)a->sides[1].tid,
			      (uint64_t)b->sides[1].tid),
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (orders[i]) {
			*ret = orders[i];
			return NULL;
		}
	}
	return order_texts_of(a, b, ret);
}

static void swap(void *a, void *b, size_t size)
{
	char *one = a, *two = b;

	for (size_t i = 0; i < size; i++) {
		char byte = one[i];

		one[i] = two[i];
		two[i] = byte;
	}
}

#define SWAP(a, b) swap(&(a), &(b), sizeof(a))

static int order_judgements(enum race_verdict a, const char *a_reason,
			    const char *a_grounds, enum race_verdict b,
			    const char *b_reason, const char *b_grounds)
{
	int order = order_numbers(a, b);

	order = order ? order : order_texts(a_reason, b_reason);
	return order ? order : order_texts(a_grounds, b_grounds);
}

/*
 * The worse verdict comes first; of two reasons for it none, then by bytes. One by
 * replays is what a suspect race without any reason has, until it is judged anew
 * by the replays of all runs: it holds of the runs that say so alone.
 */
static int order_verdicts(const struct race *a, const struct race *b)
{
	bool one = race_replay_excuses(a), two = race_replay_excuses(b);
	int order = order_judgements(
		one ? VERDICT_SUSPECT : a->verdict, one ? NULL : a->reason,
		one ? NULL : a->grounds, two ? VERDICT_SUSPECT : b->verdict,
		two ? NULL : b->reason, two ? NULL : b->grounds);

	return order ? order
		     : order_judgements(a->verdict, a->reason, a->grounds,
					b->verdict, b->reason, b->grounds);
}

/* New counts most, gone least. */
static int status_weight(enum race_status status)
{
	switch (status) {
	case STATUS_NEW:
		return 3;
	case STATUS_UNSET:
		return 2;
	case STATUS_KNOWN:
		return 1;
	case STATUS_GONE:
		break;
	}
	return 0;
}

static void combine_judgements(struct race *race, struct race *other)
{
	if (order_verdicts(other, race) < 0) {
		SWAP(race->verdict, other->verdict);
		SWAP(race->reason, other->reason);
		SWAP(race->grounds, other->grounds);
	}
	if (fields_order(&race_suppression_fields, FIELD_KEY,
			 &other->suppressed, &race->suppressed) < 0)
		SWAP(race->suppressed, other->suppressed);
	if (status_weight(other->status) > status_weight(race->status))
		race->status = other->status;
}

/* equal: the two sightings are the same but for what is missing. */
static void combine_doubts(struct race *race, const struct race *other,
			   bool equal)
{
	race_join_doubts(race, other);
	if (!equal || !race_doubt(race))
		return;
	for (int i = 0; i < 2; i++) {
		if (other->sides[i].missing > race->sides[i].missing)
			race->sides[i].missing = other->sides[i].missing;
	}
}

static struct error *combine_hosts(struct race *race, struct race *other)
{
	if (!vec_reserve(&race->hosts, race->hosts.count + other->hosts.count))
		return error_nomem;
	for (size_t i = 0; i < other->hosts.count; i++)
		vec_push(&race->hosts, vec_at(&other->hosts, i));
	vec_clear(&other->hosts);
	sort_hosts(&race->hosts);
	return NULL;
}

struct error *race_combine(struct race *race, struct race *other)
{
	struct error *err = race_normalize(race);
	int order = 0;

	if (!err)
		err = race_normalize(other);
	if (!err)
		err = order_sightings(other, race, &order);
	/* what is combined below does not mind which one it is in */
	if (!err && order < 0)
		SWAP(*race, *other);
	if (!err)
		err = combine_values(race, other);
	if (!err)
		err = combine_hosts(race, other);
	if (!err && !fields_merge(&race_fields, race, other, false))
		err = error_nomem;
	if (!err && !race_replay_combine(&race->replay, &other->replay))
		err = error_nomem;
	if (err)
		return err;
	combine_doubts(race, other, order == 0);
	combine_judgements(race, other);
	race_deinit(other);
	return NULL;
}

struct error *race_rank(struct race *race, struct strbuf *key)
{
	uint8_t identity[COMBINE_KEY_SIZE];
	struct error *err = race_key(race, identity);

	if (err)
		return err;
	recordsort_number(key, race->suppressed.rule != NULL);
	recordsort_number(key, race->verdict);
	recordsort_number(key, race_replay_settles(race));
	recordsort_number(key, (uint64_t)(3 - status_weight(race->status)));
	recordsort_number(key, ~race->runs);
	recordsort_number(key, ~race->count);
	strbuf_add_bytes(key, identity, sizeof(identity));
	return key->failed ? error_nomem : NULL;
}

size_t race_memory(const struct race *race)
{
	return sizeof(*race) + 1024 + fields_memory(&race_fields, race);
}
