/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting what was executed; see executed-text.h.
 */
#include "hunt/executed-text.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "hunt/executed-parts.h"
#include "hunt/recording.h"
#include "report/text.h"

struct counts {
	uint64_t instructions, calls, swaps, failed, heap, moved, broken;
};

static void count_accesses(struct counts *counts,
			   const struct translated *translated,
			   const struct unpacked_step *step,
			   const struct unpacked *unpacked)
{
	struct translated_access accesses[UINT8_MAX];
	size_t n = translated_count(translated, step->exit);

	if (n > UINT8_MAX)
		return;
	translated_accesses(translated, step->exit,
			    (const uint64_t *)unpacked->words.items +
				    step->words,
			    accesses);
	for (size_t i = 0; i < n; i++) {
		if (accesses[i].flags == (TRACE_WRITES | TRACE_ATOMIC)) {
			counts->swaps++;
			counts->failed += !accesses[i].done;
		}
	}
}

static void count_step(struct counts *counts, const struct executed *executed,
		       const struct unpacked_step *step,
		       const struct unpacked *unpacked)
{
	const struct translated *translated;

	if (step->superblock == 0) {
		counts->heap += step->event == TRACE_HEAP;
		counts->moved += step->event == TRACE_MOVED;
		counts->broken += step->event == TRACE_BROKEN;
		return;
	}
	translated = executed_superblock(executed, step->superblock);
	counts->instructions += translated->exits[step->exit].instructions;
	counts->calls += translated->head->ends == TRACE_ENDS_CALL &&
			 step->exit + 1 == translated->head->exits;
	count_accesses(counts, translated, step, unpacked);
}

static struct error *count_thread(const struct executed *executed,
				  const struct executed_thread *thread,
				  struct counts *ret)
{
	struct unpacked unpacked = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; !err && i < thread->chunks.count; i++) {
		const struct executed_chunk *chunk = vec_at(&thread->chunks, i);

		err = executed_unpack(executed, chunk->head, &unpacked);
		for (size_t j = 0; !err && j < unpacked.steps.count; j++)
			count_step(ret, executed, vec_at(&unpacked.steps, j),
				   &unpacked);
	}
	unpacked_deinit(&unpacked);
	return err;
}

static void say_totals(struct strbuf *text,
		       const struct executed_totals *totals)
{
	strbuf_add(text, "  executed: ");
	text_add_plural(text, totals->instructions, "instruction");
	strbuf_add(text, " in ");
	text_add_plural(text, totals->steps, "step");
	strbuf_add(text, " of ");
	text_add_plural(text, totals->superblocks, "superblock");
	strbuf_add(text, ", ");
	text_add_plural(text, totals->bytes, "byte");
	if (totals->dropped > 0) {
		strbuf_add(text, "; before them, ");
		text_add_plural(text, totals->dropped, "step");
		strbuf_add(text, " dropped");
	}
	strbuf_add(text, "\n");
}

static void say_thread(struct strbuf *text, const char *path,
		       const struct counts *counts)
{
	strbuf_addf(text, "  %-10s ", path);
	text_add_plural(text, counts->instructions, "instruction");
	strbuf_add(text, ", ");
	text_add_plural(text, counts->calls, "call");
	strbuf_add(text, ", ");
	text_add_plural(text, counts->swaps, "locked write");
	strbuf_add(text, " (");
	text_add_count(text, counts->failed);
	strbuf_add(text, " failed), ");
	text_add_count(text, counts->heap);
	strbuf_add(text, " of the heap");
	if (counts->moved > 0) {
		strbuf_add(text, ", ");
		text_add_plural(text, counts->moved, "system call");
		strbuf_add(text, " that moved bytes");
	}
	if (counts->broken > 0) {
		strbuf_add(text, ", ");
		text_add_plural(text, counts->broken, "block");
		strbuf_add(text, " left by a signal");
	}
	strbuf_add(text, "\n");
}

static struct error *say_all(const struct executed *executed,
			     const struct recording *recording,
			     struct strbuf *text)
{
	struct error *err = NULL;

	say_totals(text, executed_totals(executed));
	for (size_t i = 0;
	     !err && i < executed->threads.count && i < EXECUTED_TEXT_THREADS;
	     i++) {
		const struct executed_thread *thread =
			vec_at(&executed->threads, i);
		struct counts counts = { 0 };

		err = count_thread(executed, thread, &counts);
		if (!err)
			say_thread(
				text,
				recording_thread(recording, thread->id)->path,
				&counts);
	}
	return err;
}

struct error *executed_text(const struct recording *recording,
			    struct strbuf *text)
{
	struct executed *executed = NULL;
	struct error *err = executed_create(recording, &executed);

	if (!err && executed->threads.count > 0)
		err = say_all(executed, recording, text);
	executed_destroy(executed);
	return err;
}
