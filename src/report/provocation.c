/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The provoke record; see provocation.h.
 */
#include "report/provocation.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/field.h"

static const char *const order_words[] = { "ab", "ba" };

#define AT(member) FIELD_AT(struct provocation_end, member)

static bool end_is_exit(const void *record)
{
	const struct provocation_end *end = record;

	return !end->signal && !end->timed_out && !end->running;
}

static bool end_is_signal(const void *record)
{
	return ((const struct provocation_end *)record)->signal != 0;
}

static const struct field end_field_list[] = {
	{ "status", FIELD_ID, AT(status), .known = end_is_exit },
	{ "signal", FIELD_ID, AT(signal), .known = end_is_signal },
	{ "timed_out", FIELD_BOOL, AT(timed_out) },
	{ "running", FIELD_BOOL, AT(running) },
	{ "count", FIELD_COUNT, AT(count) },
};

static const struct fields end_fields = {
	FIELDS(struct provocation_end, end_field_list),
};

#undef AT
#define AT(member) FIELD_AT(struct provocation, member)

static const struct field provocation_field_list[] = {
	{ "schema", FIELD_VERSION, .merge = FIELD_APART },
	{ "time", FIELD_TIME, AT(time) },
	{ "report", FIELD_TEXT, AT(report) },
	{ "id", FIELD_COUNT, AT(id) },
	{ "fingerprint", FIELD_DIGITS, .flags = FIELD_NULL, AT(fingerprint) },
	{ "order", FIELD_WORD, AT(order), FIELD_WORDS(order_words) },
	{ "times", FIELD_COUNT, AT(times) },
	{ "met", FIELD_COUNT, AT(met) },
	{ "met_other", FIELD_COUNT, AT(met_other) },
	{ "reached_a", FIELD_COUNT, AT(reached_a) },
	{ "reached_b", FIELD_COUNT, AT(reached_b) },
	{ "hold_us", FIELD_US, AT(hold_ns) },
	{ "ends", FIELD_LIST, FIELD_VEC(struct provocation, ends),
	  .of = &end_fields },
};

const struct fields provocation_fields = {
	.type = "provoke",
	FIELDS(struct provocation, provocation_field_list),
};

void provocation_init(struct provocation *provocation)
{
	fields_init(&provocation_fields, provocation);
}

void provocation_deinit(struct provocation *provocation)
{
	fields_deinit(&provocation_fields, provocation);
}

static bool end_is(const struct provocation_end *a,
		   const struct provocation_end *b)
{
	return a->status == b->status && a->signal == b->signal &&
	       a->timed_out == b->timed_out && a->running == b->running;
}

static struct provocation_end *end_at(const struct provocation *provocation,
				      size_t i)
{
	return vec_at(&provocation->ends, i);
}

/* The most frequent first; of several, the first that was seen. */
bool provocation_add_end(struct provocation *provocation,
			 const struct provocation_end *end)
{
	size_t i = 0;

	while (i < provocation->ends.count &&
	       !end_is(end_at(provocation, i), end))
		i++;
	if (i == provocation->ends.count) {
		if (!vec_push(&provocation->ends, end))
			return false;
		end_at(provocation, i)->count = 0;
	}
	end_at(provocation, i)->count++;
	for (; i > 0 && end_at(provocation, i)->count >
				end_at(provocation, i - 1)->count;
	     i--) {
		struct provocation_end less = *end_at(provocation, i - 1);

		*end_at(provocation, i - 1) = *end_at(provocation, i);
		*end_at(provocation, i) = less;
	}
	return true;
}

static void say_end(struct strbuf *line, const struct provocation_end *end)
{
	const char *name = end->signal ? sigabbrev_np(end->signal) : NULL;

	if (end->running)
		strbuf_add(line, "running on");
	else if (end->timed_out)
		strbuf_add(line, "timed out");
	else if (name)
		strbuf_addf(line, "SIG%s", name);
	else if (end->signal)
		strbuf_addf(line, "signal %d", end->signal);
	else
		strbuf_addf(line, "exit %d", end->status);
}

void provocation_say(struct strbuf *line, const struct provocation *provocation)
{
	strbuf_addf(line, "order %s: %" PRIu64 " of %" PRIu64 " met",
		    order_words[provocation->order], provocation->met,
		    provocation->times);
	for (size_t i = 0; i < provocation->ends.count; i++) {
		const struct provocation_end *end = end_at(provocation, i);

		strbuf_addf(line, ", %" PRIu64 " ", end->count);
		say_end(line, end);
	}
	if (provocation->met_other)
		strbuf_addf(line,
			    " (%" PRIu64 " with another instruction than the "
			    "reported one)",
			    provocation->met_other);
}
