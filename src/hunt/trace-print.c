/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Printing a recording; see trace-print.h.
 */
#include "hunt/trace-print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "hunt/code.h"
#include "hunt/executed-text.h"
#include "hunt/recording.h"
#include "hunt/target.h"
#include "hunt/traces.h"
#include "report/render.h"
#include "report/text.h"

struct printing {
	struct strbuf text;
	const struct recording *recording;
	struct code *code;
};

/* A granule that threads share. */
struct shared {
	uint64_t address, accesses;
	size_t first, count; /* its cells */
	uint32_t threads, mask, flags, block;
};

static void add_line(struct strbuf *text, const char *line)
{
	strbuf_add(text, line);
	strbuf_add(text, "\n");
}

/* What there was none of is not told. */
static void print_dropped(struct strbuf *text, const struct trace_end *end)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
		{ end->starved_cells, " accesses for want of memory" },
		{ end->dropped_cells - end->starved_cells,
		  " accesses to bytes that many instructions access" },
		{ end->dropped_stacks, " stacks" },
		{ end->dropped_locksets, " sets of locks" },
		{ end->dropped_events, " events" },
	};
	const char *before = "  not recorded: ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].count == 0)
			continue;
		strbuf_add(text, before);
		text_add_count(text, parts[i].count);
		strbuf_add(text, parts[i].what);
		before = ", ";
	}
	if (before[0] == ',')
		strbuf_add(text, "\n");
}

static void print_counts(struct printing *printing)
{
	const struct trace_end *end = &printing->recording->end;
	struct strbuf *text = &printing->text;

	if (printing->recording->cut) {
		add_line(text, "  cut short: the process or its recorder was "
			       "killed; there are no totals");
		return;
	}
	strbuf_add(text, "  ");
	text_add_count(text, end->sequence);
	strbuf_add(text, " accesses in ");
	text_add_time(text, end->ns);
	strbuf_add(text, ", of which ");
	text_add_time(text, end->busy_ns);
	strbuf_add(text, " computing; exit status ");
	strbuf_addf(text, "%d\n  ", end->status);
	text_add_count(text, end->shared);
	strbuf_add(text, " of ");
	text_add_plural(text, end->granules, "granule");
	strbuf_add(text, " of 8 bytes shared, ");
	text_add_plural(text, printing->recording->cells.count, "cell");
	strbuf_add(text, "\n");
	print_dropped(text, end);
}

static void print_unable(struct printing *printing)
{
	const struct vec *unable = &printing->recording->unable;

	for (size_t i = 0; i < unable->count; i++) {
		strbuf_add(&printing->text, "  not recorded: ");
		utf8_add_visible(&printing->text,
				 *(const char *const *)vec_at(unable, i));
		strbuf_add(&printing->text, "\n");
	}
}

static void print_heading(struct printing *printing)
{
	static const char *const recorders[] = {
		[TRACE_BY_VALGRIND] = "Valgrind",
		[TRACE_BY_QEMU] = "QEMU",
		[TRACE_BY_BREAKPOINTS] = "breakpoints",
	};
	const struct trace_header *header = &printing->recording->file.header;
	struct strbuf *text = &printing->text;

	strbuf_add(text, "TRACE ");
	utf8_add_visible(text, printing->recording->file.path);
	strbuf_add(text, ": ");
	utf8_add_visible(text, printing->recording->program);
	strbuf_addf(text, ", pid %d, by %s, ", header->pid,
		    header->recorder < sizeof(recorders) / sizeof(*recorders) &&
				    recorders[header->recorder]
			    ? recorders[header->recorder]
			    : "an unknown recorder");
	strbuf_add(text, header->promises & TRACE_TOTAL_ORDER
				 ? "in order"
				 : "the order of threads is not known");
	add_line(text,
		 header->promises & TRACE_EXACT_LOCKS ? "" : ", locks unknown");
	print_counts(printing);
	print_unable(printing);
}

/* Where a thread was created: the first return address that has a name. */
static struct error *add_creation(struct printing *printing,
				  const struct trace_thread *raw)
{
	const struct recording_descriptor *descriptor =
		recording_descriptor(printing->recording, raw->descriptor);
	struct error *err = NULL;
	char *function = NULL;
	uint32_t number;

	for (uint32_t i = 0;
	     !err && descriptor && !function && i < descriptor->raw->depth;
	     i++) {
		err = code_number(printing->code, printing->recording,
				  &descriptor->stack[i], &number);
		/* not pthread_create() itself */
		if (!err && !code_is_runtime(printing->code, number, 0))
			err = code_function(printing->code, number, &function);
	}
	if (!err && function) {
		strbuf_add(&printing->text, " in ");
		utf8_add_visible(&printing->text, function);
	}
	free(function);
	return err;
}

static struct error *print_thread(struct printing *printing,
				  const struct recording_thread *thread)
{
	struct strbuf *text = &printing->text;
	const struct trace_thread *raw = &thread->raw;
	struct error *err = NULL;

	strbuf_addf(text, "  %-10s tid %d", thread->path, raw->tid);
	if (raw->parent && raw->created != TRACE_NEVER) {
		strbuf_add(text, ", created after access ");
		text_add_count(text, raw->created);
		err = add_creation(printing, raw);
	}
	if (raw->ended != TRACE_NEVER) {
		strbuf_add(text, ", ended after access ");
		text_add_count(text, raw->ended);
	}
	if (raw->joiner && raw->joined != TRACE_NEVER)
		strbuf_addf(text, ", joined by %s",
			    recording_thread(printing->recording, raw->joiner)
				    ->path);
	strbuf_add(text, "\n");
	return err;
}

/* "and 5 more" */
static void print_more(struct strbuf *text, const char *indent, size_t count,
		       size_t most)
{
	if (count <= most)
		return;
	strbuf_addf(text, "%sand ", indent);
	text_add_count(text, count - most);
	add_line(text, " more");
}

static struct error *print_threads(struct printing *printing)
{
	const struct vec *threads = &printing->recording->threads;
	struct error *err = NULL;

	strbuf_add(&printing->text, "  ");
	text_add_plural(&printing->text, threads->count, "thread");
	add_line(&printing->text, ":");
	for (size_t i = 0; !err && i < threads->count && i < TRACE_PRINT_LINES;
	     i++)
		err = print_thread(printing, vec_at(threads, i));
	print_more(&printing->text, "  ", threads->count, TRACE_PRINT_LINES);
	return err;
}

static void print_modules(struct printing *printing)
{
	const struct vec *modules = &printing->recording->modules;
	struct strbuf *text = &printing->text;

	strbuf_add(text, "  ");
	text_add_plural(text, modules->count, "module");
	add_line(text, ":");
	for (size_t i = 0; i < modules->count && i < TRACE_PRINT_LINES; i++) {
		const struct recording_module *module = vec_at(modules, i);

		strbuf_addf(text, "  0x%-12" PRIx64 " ", module->low);
		utf8_add_visible(text, module->path);
		if (module->build_id[0])
			strbuf_addf(text, " (%s)", module->build_id);
		strbuf_add(text, "\n");
	}
	print_more(text, "  ", modules->count, TRACE_PRINT_LINES);
}

static void take_cell(struct shared *shared, const struct recording *recording,
		      const struct trace_cell *cell)
{
	const struct recording_thread *threads = recording->threads.items;
	const struct recording_thread *thread =
		recording_thread(recording, cell->thread);

	/* of more than 32 threads, some have a bit in common */
	shared->threads |= 1u << ((thread - threads) & 31);
	shared->accesses += cell->count;
	shared->mask |= cell->mask;
	shared->flags |=
		recording_descriptor(recording, cell->descriptor)->raw->flags;
	if (cell->block)
		shared->block = cell->block;
	shared->count++;
}

static int compare_shared(const void *one, const void *two)
{
	const struct shared *a = one, *b = two;

	if (a->accesses != b->accesses)
		return a->accesses > b->accesses ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Granules that several threads accessed outside of runtimes. */
static bool find_shared(const struct recording *recording, struct vec *ret)
{
	const struct vec *cells = &recording->cells;
	struct shared *shared = NULL;

	for (size_t i = 0; i < cells->count; i++) {
		const struct trace_cell *cell = vec_at(cells, i);

		if (recording_descriptor(recording, cell->descriptor)
			    ->raw->flags &
		    TRACE_RUNTIME)
			continue;
		if (!shared || shared->address != cell->address) {
			shared = vec_append(ret);
			if (!shared)
				return false;
			shared->address = cell->address;
			shared->first = i;
		}
		take_cell(shared, recording, cell);
	}
	for (size_t i = ret->count; i-- > 0;) {
		shared = vec_at(ret, i);
		if (__builtin_popcount(shared->threads) < 2)
			vec_remove_swap(ret, i);
	}
	if (ret->count)
		qsort(ret->items, ret->count, ret->size, compare_shared);
	return true;
}

static struct error *print_shared_line(struct printing *printing,
				       const struct shared *shared)
{
	struct strbuf *text = &printing->text;
	uint32_t from = (uint32_t)__builtin_ctz(shared->mask | 0x80);
	uint32_t size = 32 - (uint32_t)__builtin_clz(shared->mask | 1) - from;
	char *name = NULL;
	struct error *err = code_variable(printing->code, printing->recording,
					  shared->address + from,
					  size ? size : 1, shared->block,
					  &name);

	strbuf_add(text, "  ");
	text_add_count(text, shared->accesses);
	strbuf_addf(text,
		    " by %d threads: ", __builtin_popcount(shared->threads));
	if (name)
		utf8_add_visible(text, name);
	else
		strbuf_addf(text, "0x%" PRIx64, shared->address + from);
	if (!(shared->flags & TRACE_WRITES))
		strbuf_add(text, " (reads only)");
	strbuf_add(text, "\n");
	free(name);
	return err;
}

static struct error *print_shared(struct printing *printing)
{
	struct vec all = VEC_INIT(struct shared);
	struct error *err =
		find_shared(printing->recording, &all) ? NULL : error_nomem;

	if (!err && all.count)
		add_line(&printing->text,
			 "  shared bytes, the most accessed first:");
	for (size_t i = 0; !err && i < all.count && i < TRACE_PRINT_LINES; i++)
		err = print_shared_line(printing, vec_at(&all, i));
	if (!err)
		print_more(&printing->text, "  ", all.count, TRACE_PRINT_LINES);
	vec_deinit(&all);
	return err;
}

static struct error *print_recording(struct strbuf *text, const char *path)
{
	struct recording recording;
	struct printing printing = { .recording = &recording };
	struct error *err = recording_open(path, &recording);

	if (err)
		return err;
	printing.text = *text;
	err = code_create(&printing.code);
	if (!err) {
		print_heading(&printing);
		err = print_threads(&printing);
		print_modules(&printing);
	}
	if (!err)
		err = executed_text(&recording, &printing.text);
	if (!err)
		err = print_shared(&printing);
	*text = printing.text;
	code_destroy(printing.code);
	recording_close(&recording);
	return err;
}

static void print_partners(struct strbuf *text, const struct vec *partners)
{
	for (size_t i = 0; i < partners->count && i < TRACE_PRINT_PARTNERS;
	     i++) {
		strbuf_add(text, "       with ");
		target_say_partner(text, vec_at(partners, i));
		strbuf_add(text, "\n");
	}
	print_more(text, "       ", partners->count, TRACE_PRINT_PARTNERS);
}

static void print_side(struct strbuf *text, const struct hunt_side *side)
{
	strbuf_addf(text, "  #%" PRIu64 " ", side->id);
	target_say_side(text, side);
	strbuf_add(text, "; ");
	text_add_plural(text, side->partners.count, "partner");
	strbuf_add(text, side->locks_unknown ? ", locks unknown"
			 : side->locked	     ? ", locked"
					     : "");
	strbuf_add(text, ", hold ");
	text_add_time(text, side->hold_ns);
	strbuf_add(text, "\n");
	print_partners(text, &side->partners);
}

static void print_sides(struct strbuf *text, const struct vec *sides,
			const struct hunt_totals *totals)
{
	strbuf_add(text, "PAIRS of conflicting instructions: ");
	text_add_count(text, totals->pairs_all);
	strbuf_add(text, ", ");
	text_add_count(text, totals->pairs_own);
	strbuf_add(text, " without runtimes, ");
	text_add_count(text, totals->pairs);
	strbuf_add(text, " that no creation or join of threads orders; ");
	text_add_plural(text, totals->sides, "side");
	strbuf_add(text, sides->count ? ":\n" : "\n");
	for (size_t i = 0; i < sides->count && i < TRACE_PRINT_LINES; i++)
		print_side(text, vec_at(sides, i));
	print_more(text, "  ", sides->count, TRACE_PRINT_LINES);
}

static void free_sides(struct vec *sides)
{
	for (size_t i = 0; i < sides->count; i++)
		hunt_side_deinit(vec_at(sides, i));
	vec_deinit(sides);
}

static struct error *find_sides(const char *path, struct vec *sides,
				struct hunt_totals *totals)
{
	const struct hunt_pairing options = { .quiet = true };

	return hunt_targets_from_traces(path, &options, sides, totals);
}

static struct error *print_all(struct strbuf *text, const char *path)
{
	struct vec paths = VEC_INIT(char *);
	struct vec sides = VEC_INIT(struct hunt_side);
	struct hunt_totals totals;
	struct error *err = traces_find(path, &paths);

	for (size_t i = 0; !err && i < paths.count; i++)
		err = print_recording(text, *(char **)vec_at(&paths, i));
	traces_free(&paths);
	if (!err)
		err = find_sides(path, &sides, &totals);
	if (!err)
		print_sides(text, &sides, &totals);
	free_sides(&sides);
	return err;
}

struct error *trace_print(const char *path, FILE *out)
{
	struct strbuf text = { 0 };
	struct error *err = print_all(&text, path);

	if (!err && text.failed)
		err = error_nomem;
	if (!err && (fputs(strbuf_text(&text), out) < 0 || fflush(out) != 0))
		err = error_os(errno, "write");
	strbuf_deinit(&text);
	return err;
}

struct error *trace_print_json(const char *path, FILE *out)
{
	struct vec sides = VEC_INIT(struct hunt_side);
	struct renderer json = { .ops = &render_json, .out = out };
	struct hunt_totals totals;
	struct error *err = find_sides(path, &sides, &totals);

	for (size_t i = 0; !err && i < sides.count; i++) {
		const struct hunt_side *side = vec_at(&sides, i);

		err = render_json.target(
			&json, &(struct target_record){ .side = *side });
	}
	free_sides(&sides);
	return err;
}
