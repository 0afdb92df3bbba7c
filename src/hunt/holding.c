/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run with sides; see holding.h.
 */
#include "hunt/holding.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "hunt/ordered.h"
#include "hunt/tries.h"
#include "report/field.h"
#include "report/race.h"
#include "report/related.h"
#include "session/companion.h"

/* Processes that outlive the command are watched for so long. */
static const uint64_t HOLDING_REST_NS = 2 * CLOCK_NS_PER_S;

/*
 * In a run of at most this many sides, they wait at debug registers, in turns. That
 * leaves registers for a side's partners before the side is held.
 */
enum { HOLDING_FEW = 4 };

struct holding {
	const struct holding_config *config;
	struct companion client;
	struct error *failed; /* the client cannot be started */
	struct holding_side *sides;
	size_t count;
	const struct holding_sink *sink;
	struct vec races; /* const struct race *, as they came */
};

/* What a session gets to know about one side, and what that points to. */
struct holding_spec {
	struct vec partners, busy, stack; /* of struct where */
	bool unlisted; /* others are partners, too */
};

bool holding_parse_path(const char *text, struct wire_hunt *ret)
{
	char *end;

	ret->path_length = 0;
	if (text[0] != '0' || (text[1] && text[1] != '.'))
		return false;
	for (text++; *text == '.'; text = end) {
		unsigned long number;

		errno = 0;
		if (!isdigit((unsigned char)text[1]))
			return false;
		number = strtoul(text + 1, &end, 10);
		if (errno || number >= UINT32_MAX ||
		    ret->path_length == WIRE_PATH_MAX)
			return false;
		ret->path[ret->path_length++] = (uint32_t)number;
	}
	return *text == '\0';
}

static struct where holding_where(const struct hunt_place *place)
{
	const char *slash = strrchr(place->module, '/');

	return (struct where){
		.kind = WHERE_OFFSET,
		.text = place->module,
		.name = slash ? (char *)(uintptr_t)(slash + 1) : place->module,
		.build_id = place->build_id,
		.offset = place->offset,
	};
}

static bool holding_add_where(struct vec *list, const struct hunt_place *place)
{
	struct where where;

	if (!place->module)
		return true;
	where = holding_where(place);
	return vec_push(list, &where);
}

/* Several partners may be of one instruction. */
static bool holding_has(const struct vec *list, const struct hunt_place *place)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct where *where = vec_at(list, i);

		if (where->offset == place->offset && place->module &&
		    strcmp(where->text, place->module) == 0)
			return true;
	}
	return false;
}

static bool holding_list(const struct hunt_side *side, struct holding_spec *ret)
{
	bool good = true;

	for (size_t i = 0; good && i < side->partners.count; i++) {
		const struct hunt_partner *partner = vec_at(&side->partners, i);
		struct vec *list = partner->string_function ? &ret->busy
							    : &ret->partners;

		/* in the kernel there is no place to stop at */
		if (partner->syscall || !partner->place.module)
			ret->unlisted = true;
		else if (!holding_has(list, &partner->place))
			good = holding_add_where(list, &partner->place);
	}
	for (size_t i = 0; good && i < side->stack.count; i++)
		good = holding_add_where(&ret->stack, vec_at(&side->stack, i));
	return good;
}

static void holding_add_other(struct wire_hunt *wire,
			      const struct wire_hunt *parsed)
{
	struct wire_place other = { .length = parsed->path_length };

	memcpy(other.path, parsed->path, sizeof(other.path));
	for (uint32_t i = 0; i < wire->other_count; i++) {
		if (memcmp(&wire->others[i], &other, sizeof(other)) == 0)
			return;
	}
	if (wire->other_count < WIRE_HUNT_OTHERS)
		wire->others[wire->other_count++] = other;
}

/* The threads of the partners, as far as they are known. */
static void holding_others(const struct hunt_side *side, struct wire_hunt *wire)
{
	for (size_t i = 0; i < side->partners.count; i++) {
		const struct hunt_partner *partner = vec_at(&side->partners, i);
		struct wire_hunt parsed = { .path_length = 0 };

		if (partner->thread_path &&
		    holding_parse_path(partner->thread_path, &parsed))
			holding_add_other(wire, &parsed);
	}
}

/* many: of a run of many sides */
static struct error *holding_side(const struct holding_config *config,
				  const struct holding_side *wanted, bool many,
				  struct holding_spec *spec,
				  struct session_side *ret)
{
	const struct hunt_side *side = wanted->side;

	*ret = (struct session_side){
		.id = side->id,
		.wire = { .any = !side->thread_path,
			  .ordinal = side->ordinal,
			  .hold_ns = wanted->hold_ns,
			  .by_text = many,
			  .until_all = config->until_all },
		.program = side->program,
		.partners = &spec->partners,
		.busy = &spec->busy,
		.stack = &spec->stack,
	};
	if (!side->place.module)
		return error_create(ERROR_FORMAT,
				    "target #%llu: its side has no module",
				    (unsigned long long)side->id);
	if (side->thread_path &&
	    !holding_parse_path(side->thread_path, &ret->wire))
		return error_create(ERROR_FORMAT,
				    "target #%llu: '%s' is no thread path",
				    (unsigned long long)side->id,
				    side->thread_path);
	ret->where = holding_where(&side->place);
	holding_others(side, &ret->wire);
	if (!holding_list(side, spec))
		return error_nomem;
	ret->wire.unlisted = spec->unlisted;
	return NULL;
}

/* Of two, what says more. */
static bool holding_is_better(unsigned int result, unsigned int than)
{
	static const int weight[TARGET_RESULTS] = {
		[TARGET_PENDING] = 0,  [TARGET_UNREACHED] = 1,
		[TARGET_ORDERED] = 2,  [TARGET_TIMEOUT] = 3,
		[TARGET_PROVOKED] = 4,
	};

	return weight[result] > weight[than];
}

/* Accesses that synchronize may meet: that is how they put others in order. */
static bool holding_synchronizes(const struct race *race)
{
	return race && race->verdict == VERDICT_SYNC;
}

static unsigned int holding_result(const struct wire_hunted *news,
				   const struct race *race)
{
	switch ((enum wire_hunt_end)news->end) {
	case WIRE_HUNT_MET:
		if (holding_synchronizes(race))
			return TARGET_ORDERED;
		/* of no race, nothing is known before the end */
		if (!race && news->more)
			return TARGET_PENDING;
		return race ? TARGET_PROVOKED : TARGET_TIMEOUT;
	case WIRE_HUNT_QUIET:
		return TARGET_TIMEOUT;
	case WIRE_HUNT_ALONE:
		return TARGET_ORDERED;
	case WIRE_HUNT_UNREACHED:
		return TARGET_UNREACHED;
	case WIRE_HUNT_LOST:
	case WIRE_HUNT_UNTRIED:
		break;
	}
	return TARGET_PENDING;
}

/*
 * Is a hold over in which not all have come that it may be for: it lasted to its end,
 * or what it has met is a changed value, and nobody was seen to write it?
 */
static bool holding_is_open(const struct holding *holding,
			    const struct wire_hunted *news,
			    const struct race *race)
{
	return holding->config->until_all && !news->more &&
	       (news->end == WIRE_HUNT_QUIET ||
		(news->end == WIRE_HUNT_MET && race &&
		 race_is_one_sided(race)));
}

static void holding_take(struct target_outcome *outcome, unsigned int result,
			 const struct wire_hunted *news,
			 const struct race *race, const struct vec *waits)
{
	if (!holding_is_better(result, outcome->result) ||
	    (outcome->race[0] && result != TARGET_PROVOKED))
		return;
	outcome->result = result;
	free(outcome->ordered_by);
	outcome->ordered_by = NULL;
	if (holding_synchronizes(race))
		outcome->ordered_by = strdup(ORDERED_BY_ITSELF);
	else if (result == TARGET_ORDERED)
		outcome->ordered_by = ordered_by_waits(waits, news->side);
	else if (race)
		memcpy(outcome->race, race->fingerprint, sizeof(outcome->race));
}

static void holding_hunted(void *context, const struct wire_hunted *news,
			   const struct race *race, const struct vec *waits)
{
	struct holding *holding = context;
	struct holding_side *side = &holding->sides[news->side];
	struct target_outcome *outcome = &side->outcome;
	unsigned int result = holding_result(news, race);

	/* the others may have come earlier, for which it is not tried again */
	if (result == TARGET_ORDERED && !race &&
	    tries_are_late(side->side, side->hold_ns, news->before_ns))
		result = TARGET_PENDING;
	side->synchronizes |= holding_synchronizes(race);
	/* nobody else has come since */
	if (result == TARGET_TIMEOUT && side->synchronizes)
		result = TARGET_PENDING;
	outcome->runs = 1;
	if (news->reached > outcome->reached)
		outcome->reached = news->reached;
	if (news->held_ns > outcome->hold_ns)
		outcome->hold_ns = news->held_ns;
	holding_take(outcome, result, news, race, waits);
	/* whom it has met may not be all that it was held for */
	if (holding_is_open(holding, news, race) &&
	    outcome->result == TARGET_PROVOKED)
		outcome->result = TARGET_PENDING;
}

static void holding_started(void *context, const struct session_counts *counts,
			    const struct image *image)
{
	struct holding *holding = context;
	const struct companion_config client = {
		.command = holding->config->until_exit_of,
		.silent = holding->config->silent,
	};

	(void)image;
	if (!client.command)
		return;
	holding->failed =
		companion_start(&client, counts->pid, &holding->client);
	if (holding->failed)
		kill(counts->pid, SIGTERM);
}

static void holding_race(void *context, const struct race *race, bool first)
{
	struct holding *holding = context;

	(void)first;
	for (size_t i = 0; i < holding->races.count; i++) {
		if (*(const struct race **)vec_at(&holding->races, i) == race)
			return;
	}
	/* without memory it is not told */
	vec_push(&holding->races, &race);
}

static void holding_crash(void *context, const struct crash *crash)
{
	const struct holding *holding = context;

	if (holding->sink->crash)
		holding->sink->crash(holding->sink->context, crash);
}

static void holding_note(void *context, const char *text)
{
	const struct holding *holding = context;

	if (holding->sink->note)
		holding->sink->note(holding->sink->context, text);
}

/* A side without news is in no program that has run. */
static void holding_ended(void *context, const struct session_counts *counts)
{
	struct holding *holding = context;
	struct run_summary sum = counts->sum;

	for (size_t i = 0; i < holding->count; i++) {
		struct target_outcome *outcome = &holding->sides[i].outcome;

		if (outcome->runs > 0)
			continue;
		outcome->runs = 1;
		outcome->result = TARGET_UNREACHED;
	}
	if (holding->sink->races)
		holding->sink->races(holding->sink->context, &holding->races);
	fields_deinit(&summary_fields, &sum);
}

static struct error *holding_session(const struct holding_config *config,
				     struct holding *holding,
				     const struct vec *sides,
				     struct session_result *ret)
{
	const struct session_sink sink = {
		.context = holding,
		.started = holding_started,
		.race = holding_race,
		.crash = holding_crash,
		.note = holding_note,
		.hunted = holding_hunted,
		.ended = holding_ended,
	};
	const struct session_config session = {
		.argv = config->argv,
		.tracing = { .backend = config->backend,
			     .follow = WIRE_FOLLOW_ALL,
			     .no_aslr = true },
		.rest_ns = HOLDING_REST_NS,
		.seed = 1,
		/* of this, only that there is any is used */
		.effort = { .params = { .rate = 1 } },
		.timeout_ns = config->timeout_ns,
		.replay_instances = config->replay_instances,
		.rules = config->rules,
		.judge = config->judge,
		.sources = config->sources,
		.hunt = sides,
		.silent = config->silent,
	};

	return session_run(&session, &sink, ret);
}

static int holding_status(const struct session_result *result)
{
	if (result->timed_out)
		return EXIT_TIMED_OUT;
	return exit_status_of(result->status);
}

/* The client's end belongs to the run. */
static struct error *holding_with_client(struct holding *holding,
					 const struct vec *sides,
					 struct session_result *ret,
					 int *ret_status)
{
	struct error *err =
		holding_session(holding->config, holding, sides, ret);
	bool cut = err || ret->timed_out || ret->interrupted || ret->asked;

	*ret_status = companion_end(&holding->client, holding_status(ret),
				    cut ? NULL : holding_note, holding);
	if (err)
		error_free(holding->failed);
	return err ? err : holding->failed;
}

struct error *holding_run(const struct holding_config *config,
			  struct holding_side *sides, size_t count,
			  const struct holding_sink *sink,
			  struct session_result *ret, int *ret_status)
{
	struct holding holding = { .config = config,
				   .sides = sides,
				   .count = count,
				   .sink = sink,
				   .races = VEC_INIT(const struct race *) };
	struct holding_spec *specs = calloc(count, sizeof(*specs));
	struct vec list = VEC_INIT(struct session_side);
	struct error *err = specs ? NULL : error_nomem;

	for (size_t i = 0; !err && i < count; i++) {
		struct session_side side;

		specs[i].partners = specs[i].busy = specs[i].stack =
			(struct vec)VEC_INIT(struct where);
		err = holding_side(config, &sides[i], count > HOLDING_FEW,
				   &specs[i], &side);
		if (!err && !vec_push(&list, &side))
			err = error_nomem;
	}
	if (!err)
		err = holding_with_client(&holding, &list, ret, ret_status);
	for (size_t i = 0; specs && i < count; i++) {
		vec_deinit(&specs[i].partners);
		vec_deinit(&specs[i].busy);
		vec_deinit(&specs[i].stack);
	}
	free(specs);
	vec_deinit(&list);
	vec_deinit(&holding.races);
	return err;
}
