/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instances of races that the tracer has captured; see session-replay.h.
 */
#include "session/session-state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "replay/livein.h"
#include "report/race-replay.h"
#include "report/race.h"
#include "session/replay-program.h"

/* Of CPU time, for one schedule; a region takes some microseconds. */
static const uint64_t REPLAY_LIMIT_NS = 3 * CLOCK_NS_PER_MS;

enum {
	/*
	 * Instances to learn from are as many as this for one that counts; then
	 * the pages that the race uses change too much.
	 */
	REPLAY_LESSONS = 2,
	/* then the regions end where a page is missed again */
	REPLAY_LESSONS_FIRST = 2,
};

static_assert((int)WIRE_HINTS_MAX == (int)REPLAY_HINTS_MAX, "hints");
static_assert((int)WIRE_PAGES_MAX == (int)LIKELY_MAX, "pages");
static_assert((int)WIRE_PAGE == (int)REPLAY_PAGE, "page");
static_assert((int)WIRE_INSTANCE_VECTORS_MAX == (int)REPLAY_VECTORS_MAX,
	      "vectors");

/* A pair of instructions, as the tracer tells them apart. */
struct session_pair {
	struct replay_hints hints;
	uint32_t lessons; /* instances to learn from */
};

void session_replay_init(struct session *session)
{
	session->replays = (struct session_replays){
		.pairs = VEC_INIT(struct session_pair),
	};
	replay_result_init(&session->replays.result);
}

void session_replay_deinit(struct session *session)
{
	struct session_replays *replays = &session->replays;

	processor_destroy(replays->processor);
	replay_result_deinit(&replays->result);
	map_deinit(&replays->index);
	vec_deinit(&replays->pairs);
	free(replays->capture);
}

/* Of an instance, once no processor could be had (session_replays.off). */
static const char no_processor[] = "no-processor";

/* Why no instance can follow the conflict; NULL: the tracer has its reasons. */
static const char *replay_refusal(const struct conflict *conflict)
{
	if (!conflict->sides[1].wire->present)
		return "not-held";
	return conflict->sides[1].kernel ? "system-call" : NULL;
}

/* Once, of a race without any instance: the next conflict may have one. */
static struct error *replay_refuse(struct session *session, struct race *race,
				   const char *refusal)
{
	return refusal && race_replay_outcome(&race->replay) == RACE_REPLAY_NONE
		       ? session_replay_failed(session, race, refusal)
		       : NULL;
}

struct error *session_replay_expect(struct session *session,
				    const struct conflict *conflict,
				    struct race *race)
{
	struct session_instance *next = &session->replays.next;
	struct error *err;

	if (session->config->replay_instances == 0 ||
	    !session_replay_wants(session, race))
		return NULL;
	if (session->replays.off)
		return replay_refuse(session, race, no_processor);
	if (!conflict->wire.instance)
		return replay_refuse(session, race, replay_refusal(conflict));
	err = session_replay_question(conflict, next);
	next->race = race;
	return err;
}

/* A message as it comes, taken apart from its start. */
struct replay_message {
	const uint8_t *bytes;
	size_t size;
};

static bool message_take(struct replay_message *message, void *ret, size_t size)
{
	if (size > message->size)
		return false;
	memcpy(ret, message->bytes, size);
	message->bytes += size;
	message->size -= size;
	return true;
}

static bool message_take_thread(struct replay_message *message,
				const struct wire_instance_thread *thread,
				struct replay_context *ret)
{
	if (thread->vectors_size > REPLAY_VECTORS_MAX ||
	    thread->vectors_size > thread->area_size ||
	    thread->area_size > REPLAY_AREA_MAX)
		return false;
	ret->regs = thread->regs;
	ret->vectors_size = thread->vectors_size;
	ret->area_size = thread->area_size;
	return message_take(message, ret->vectors, thread->vectors_size);
}

static bool message_take_pages(struct replay_message *message,
			       const struct wire_instance *head,
			       struct replay_capture *ret)
{
	uint32_t count = head->pages;

	if (count > LIKELY_MAX || head->of_first > count ||
	    !message_take(message, ret->addresses,
			  count * sizeof(ret->addresses[0])))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (ret->addresses[i] % REPLAY_PAGE != 0 ||
		    !message_take(message, ret->pages[i], REPLAY_PAGE))
			return false;
	}
	ret->count = count;
	ret->of_first = head->of_first;
	return true;
}

static bool message_take_absent(struct replay_message *message,
				const struct wire_instance *head,
				struct replay_capture *ret)
{
	if (head->absent > LIKELY_MAX ||
	    !message_take(message, ret->absent,
			  head->absent * sizeof(ret->absent[0])))
		return false;
	ret->absent_count = head->absent;
	return true;
}

/* False: it is not what its own counts say. */
static bool replay_read(const void *payload, size_t size,
			struct wire_instance *ret_head,
			struct replay_capture *ret)
{
	struct replay_message message = { payload, size };

	if (!message_take(&message, ret_head, sizeof(*ret_head)))
		return false;
	for (int i = 0; i < REPLAY_THREADS; i++) {
		if (!message_take_thread(&message, &ret_head->threads[i],
					 &ret->threads[i]))
			return false;
	}
	return message_take_pages(&message, ret_head, ret) &&
	       message_take_absent(&message, ret_head, ret);
}

static struct session_pair *replay_pair(struct session_replays *replays,
					uint64_t key)
{
	const uint64_t *i = map_get(&replays->index, key);
	struct session_pair *pair;

	if (i)
		return vec_at(&replays->pairs, (size_t)*i);
	if (!map_set(&replays->index, key, replays->pairs.count))
		return NULL;
	pair = vec_append(&replays->pairs);
	if (pair)
		memset(pair, 0, sizeof(*pair));
	else
		map_remove(&replays->index, key);
	return pair;
}

static struct error *replay_load(struct session_replays *replays,
				 struct replay_instance *instance,
				 const uint64_t slots[REPLAY_THREADS])
{
	struct error *err = NULL;

	for (int i = 0; i < REPLAY_THREADS && !err; i++) {
		const struct x86_registers *regs =
			&replays->capture->threads[i].regs;

		instance->threads[i].return_slot = slots[i];
		err = replay_program_stack_low(
			&instance->sources[instance->two ? i : 0],
			regs->gpr[X86_RSP], &instance->threads[i].stack_low);
	}
	if (!err)
		err = processor_load(replays->processor, replays->capture,
				     instance);
	return err;
}

static struct error *replay_run_to(struct session_replays *replays,
				   struct replay_instance *instance,
				   const uint64_t slots[REPLAY_THREADS])
{
	struct error *err = replay_load(replays, instance, slots);

	return err ? err
		   : replay_run(replays->processor, &replays->next.question,
				&replays->result);
}

static bool replay_learns(const struct replay_result *result)
{
	return result->verdict == REPLAY_FAILURE &&
	       strcmp(result->failure, "learning") == 0;
}

/* Has it failed where a smaller region may not? */
static bool replay_shrinks(const struct session_replays *replays)
{
	const struct session_instance *next = &replays->next;

	return replays->result.verdict == REPLAY_FAILURE &&
	       !replay_learns(&replays->result) &&
	       memcmp(next->own_slots, next->return_slots,
		      sizeof(next->own_slots)) != 0;
}

/*
 * The pages that were not captured are the program's, which runs. Where a caller
 * does not return soon, that of a loop, or makes a system call, the function
 * itself does neither.
 */
static struct error *replay_run_instance(struct session_replays *replays,
					 struct session_pair *pair, bool two)
{
	const struct session_instance *next = &replays->next;
	struct replay_program programs[REPLAY_THREADS];
	struct replay_instance instance = {
		.two = two,
		.shift = next->shift,
		.hints = &pair->hints,
		.ends_at_missed = pair->lessons >= REPLAY_LESSONS_FIRST,
		.limit_ns = REPLAY_LIMIT_NS,
	};
	int count = two ? REPLAY_THREADS : 1;
	struct error *err;

	for (int i = 0; i < count; i++) {
		replay_program_init(&programs[i], next->images[i],
				    next->pids[i]);
		instance.sources[i] = replay_program_source(&programs[i]);
	}
	err = replay_run_to(replays, &instance, next->return_slots);
	if (!err && replay_shrinks(replays))
		err = replay_run_to(replays, &instance, next->own_slots);
	for (int i = 0; i < count; i++)
		replay_program_deinit(&programs[i]);
	return err;
}

/* Once; where that fails it is said, and nothing is replayed. */
static bool replay_is_ready(struct session *session)
{
	struct session_replays *replays = &session->replays;
	struct error *err = NULL;

	if (replays->off)
		return false;
	if (!replays->capture)
		replays->capture = calloc(1, sizeof(*replays->capture));
	if (!replays->processor)
		err = processor_create(SCRATCH_BY_FAULTFD, &replays->processor);
	if (!err && replays->capture)
		return true;
	replays->off = true;
	if (session->sink->note && err)
		session->sink->note(session->sink->context, error_message(err));
	error_free(err);
	return false;
}

/* What is to be counted of it: a lesson is no instance, but the last one. */
static struct error *replay_count(struct session *session,
				  struct session_pair *pair, bool *ret_counts)
{
	const struct session_replays *replays = &session->replays;

	*ret_counts =
		!replay_learns(&replays->result) ||
		++pair->lessons >=
			REPLAY_LESSONS * session->config->replay_instances;
	if (!*ret_counts)
		return NULL;
	return session_replay_note(session, &replays->next, &replays->result);
}

/* An error that is none of memory is a failure of the instance. */
static struct error *replay_fail(struct session *session, struct error *err)
{
	struct race *race = session->replays.next.race;
	const char *failure = err == error_gone ? "ended" : "processor";

	if (err->kind == ERROR_NOMEM)
		return err;
	log_debug(LOG_DETECT, "replay: %s", error_message(err));
	error_free(err);
	/* that of another instance */
	session->replays.result.still = false;
	return session_replay_failed(session, race, failure);
}

/* For --debug. */
static const char *replay_word(enum replay_verdict verdict)
{
	switch (verdict) {
	case REPLAY_NO_CHANGE:
		return "no change";
	case REPLAY_CHANGE:
		return "a change";
	case REPLAY_FAULT:
		return "a fault";
	case REPLAY_FAILURE:
	default:
		return "a failure";
	}
}

static const char *replay_side_word(const struct replay_side *side)
{
	static const char *const words[][2] = {
		[ACCESS_NONE] = { "none", "none done" },
		[ACCESS_READ] = { "read", "read done" },
		[ACCESS_WRITE] = { "write", "write done" },
		[ACCESS_RMW] = { "update", "update done" },
	};

	return words[side->access.kind & ACCESS_RMW][side->done];
}

static struct error *replay_one(struct session *session,
				struct session_pair *pair, bool two,
				bool *ret_counts)
{
	struct session_replays *replays = &session->replays;
	struct session_instance *next = &replays->next;
	uint64_t begun = clock_cpu_ns();
	struct error *err;

	*ret_counts = true;
	if (next->failure)
		return session_replay_failed(session, next->race,
					     next->failure);
	err = replay_run_instance(replays, pair, two);
	err = err ? replay_fail(session, err)
		  : replay_count(session, pair, ret_counts);
	log_debug(LOG_DETECT, "replayed in %.2f ms on a CPU: %s %s, %s %s",
		  (double)(clock_cpu_ns() - begun) / CLOCK_NS_PER_MS,
		  replay_word(replays->result.verdict),
		  replays->result.failure ? replays->result.failure : "",
		  replay_side_word(&next->question.sides[0]),
		  replay_side_word(&next->question.sides[1]));
	return err;
}

/* Is the last result one that tells nothing (struct replay_note)? */
static bool replay_is_still(const struct session_replays *replays,
			    const struct wire_replay *answer)
{
	return answer->counts && !replays->next.failure &&
	       replays->next.question.varies &&
	       replays->result.verdict != REPLAY_FAILURE &&
	       replays->result.still;
}

/* CPU time of both processes so far. */
struct replay_clock {
	uint64_t own_ns, scratch_ns;
};

static struct replay_clock replay_clock(const struct session_replays *replays)
{
	return (struct replay_clock){ clock_cpu_ns(),
				      session_replay_cpu_ns(replays) };
}

uint64_t session_replay_cpu_ns(const struct session_replays *replays)
{
	return replays->processor ? processor_cpu_ns(replays->processor) : 0;
}

/* The pages that the pair's instances have missed, and what all took. */
static void replay_answer(struct session *session,
			  const struct session_pair *pair,
			  const struct replay_clock *begun,
			  struct wire_replay *answer)
{
	struct replay_clock now = replay_clock(&session->replays);
	size_t count = 0;

	if (pair)
		count = pair->hints.count < REPLAY_HINTS_MAX ? pair->hints.count
							     : REPLAY_HINTS_MAX;
	answer->count = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		answer->hints[i] = pair->hints.pages[i];
	answer->scratch_ns = now.scratch_ns - begun->scratch_ns;
	answer->cpu_ns = now.own_ns - begun->own_ns + answer->scratch_ns;
	channel_send(&session->channel, WIRE_REPLAY, answer, sizeof(*answer));
	channel_flush(&session->channel);
}

struct error *session_replay(struct session *session, const void *payload,
			     size_t size)
{
	struct session_replays *replays = &session->replays;
	struct replay_clock begun = replay_clock(replays);
	struct wire_instance head = { 0 };
	struct wire_replay answer = { .counts = false };
	struct session_pair *pair = NULL;
	struct race *race = replays->next.race;
	struct error *err = NULL;

	if (size < sizeof(head))
		return NULL;
	memcpy(&head, payload, sizeof(head));
	if (race && !replay_is_ready(session)) {
		err = session_replay_failed(session, race, no_processor);
	} else if (race &&
		   replay_read(payload, size, &head, replays->capture)) {
		log_debug(LOG_DETECT, "held %.1f us for %u pages",
			  (double)head.held_ns / CLOCK_NS_PER_US, head.pages);
		pair = replay_pair(replays, head.pair);
		err = pair ? replay_one(session, pair, head.two, &answer.counts)
			   : error_nomem;
	}
	answer.pair = head.pair;
	answer.still = replay_is_still(replays, &answer);
	/* a conflict that is no race, or of one that has enough, has none */
	answer.enough = !race || replays->off ||
			!session_replay_wants(session, race);
	replay_answer(session, pair, &begun, &answer);
	replays->next.race = NULL;
	return err;
}
