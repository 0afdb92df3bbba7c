/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adding up runs; see totals.h.
 */
#include "report/totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

void totals_init(struct totals *totals)
{
	memset(totals, 0, sizeof(*totals));
	totals->command = (struct vec)VEC_INIT(char *);
	totals->hosts = (struct vec)VEC_INIT(char *);
	totals->modules = (struct vec)VEC_INIT(struct run_module);
	totals->coverage = (struct vec)VEC_INIT(struct run_coverage);
	totals->at = (struct vec)VEC_INIT(struct run_at);
}

/* The strings of the records are const for all but their owner. */
static void free_text(const char *text)
{
	free((char *)(uintptr_t)text);
}

static void free_list(struct vec *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(*(char **)vec_at(list, i));
	vec_deinit(list);
}

void totals_deinit(struct totals *totals)
{
	for (size_t i = 0; i < totals->modules.count; i++) {
		struct run_module *module = vec_at(&totals->modules, i);

		free_text(module->path);
		free_text(module->build_id);
	}
	for (size_t i = 0; i < totals->coverage.count; i++) {
		struct run_coverage *coverage = vec_at(&totals->coverage, i);

		free_text(coverage->path);
	}
	for (size_t i = 0; i < totals->at.count; i++) {
		struct run_at *at = vec_at(&totals->at, i);

		free_text(at->where);
		free_text(at->problem);
	}
	vec_deinit(&totals->modules);
	vec_deinit(&totals->coverage);
	vec_deinit(&totals->at);
	free_list(&totals->command);
	free_list(&totals->hosts);
	free_text(totals->run.version);
	free_text(totals->run.host);
	free_text(totals->run.backend);
	free_text(totals->summary.backend);
	free_text(totals->summary.unsampled.reason);
	free_text(totals->summary.unsampled.text);
	totals_init(totals);
}

static int order_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static struct error *copy_text(const char *text, const char **ret)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return error_nomem;
	*ret = copy;
	return NULL;
}

/* Keep what all have in common; NULL otherwise. */
static struct error *join_text(const char **kept, const char *text, bool first)
{
	if (first)
		return copy_text(text, kept);
	if (order_texts(*kept, text) != 0) {
		free_text(*kept);
		*kept = NULL;
	}
	return NULL;
}

static bool push_copy(struct vec *list, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if ((text && !copy) || !vec_push(list, &copy)) {
		free(copy);
		return false;
	}
	return true;
}

static bool is_command(const struct vec *kept, const char *const *command)
{
	size_t i = 0;

	if (!command || kept->count == 0)
		return false;
	for (; command[i] && i < kept->count; i++) {
		if (order_texts(*(char **)vec_at(kept, i), command[i]) != 0)
			return false;
	}
	return i + 1 == kept->count;
}

static struct error *join_command(struct totals *totals,
				  const char *const *command)
{
	if (totals->has_run) {
		if (!is_command(&totals->command, command))
			free_list(&totals->command);
		return NULL;
	}
	for (size_t i = 0; command && command[i]; i++) {
		if (!push_copy(&totals->command, command[i]))
			return error_nomem;
	}
	return !command || push_copy(&totals->command, NULL) ? NULL
							     : error_nomem;
}

/*
 * Where the key is, or belongs, among sorted items; compare is given an item.
 */
static size_t find_place(const struct vec *items, const void *key,
			 int (*compare)(const void *key, const void *item),
			 bool *ret_found)
{
	size_t low = 0, high = items->count;

	*ret_found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(key, vec_at(items, middle));

		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Room for an item at place i, which the caller fills; NULL: no memory. */
static void *insert_at(struct vec *items, size_t i)
{
	if (!vec_append(items))
		return NULL;
	memmove(vec_at(items, i + 1), vec_at(items, i),
		(items->count - 1 - i) * items->size);
	memset(vec_at(items, i), 0, items->size);
	return vec_at(items, i);
}

static int compare_modules(const void *key, const void *item)
{
	const struct run_module *a = key, *b = item;
	int order = order_texts(a->path, b->path);

	return order ? order : order_texts(a->build_id, b->build_id);
}

static struct error *join_module(struct totals *totals,
				 const struct run_module *module)
{
	struct run_module copy = { .base = module->base };
	struct run_module *kept;
	struct error *err;
	bool found;
	size_t i =
		find_place(&totals->modules, module, compare_modules, &found);

	if (found) {
		kept = vec_at(&totals->modules, i);
		/* where each run has it elsewhere it is nowhere */
		if (kept->base != module->base)
			kept->base = 0;
		return NULL;
	}
	err = copy_text(module->path, &copy.path);
	if (!err)
		err = copy_text(module->build_id, &copy.build_id);
	kept = err ? NULL : insert_at(&totals->modules, i);
	if (!kept) {
		free_text(copy.path);
		free_text(copy.build_id);
		return err ? err : error_nomem;
	}
	*kept = copy;
	return NULL;
}

static int compare_hosts(const void *key, const void *item)
{
	return strcmp(key, *(char *const *)item);
}

static struct error *join_host(struct totals *totals, const char *host)
{
	char **kept;
	char *copy;
	bool found;
	size_t i;

	if (!host)
		return NULL;
	if (totals->hosts.count)
		totals->hosts.count--; /* the NULL */
	i = find_place(&totals->hosts, host, compare_hosts, &found);
	if (!found) {
		copy = strdup(host);
		kept = copy ? insert_at(&totals->hosts, i) : NULL;
		if (!kept) {
			free(copy);
			return error_nomem;
		}
		*kept = copy;
	}
	return push_copy(&totals->hosts, NULL) ? NULL : error_nomem;
}

static struct error *join_names(struct totals *totals,
				const struct run_record *run)
{
	struct run_record *sum = &totals->run;
	bool first = !totals->has_run;
	struct error *err = join_command(totals, run->command);

	if (!err)
		err = join_text(&sum->version, run->version, first);
	if (!err)
		err = join_text(&sum->host, run->host, first);
	if (!err)
		err = join_text(&sum->backend, run->backend, first);
	if (!err)
		err = join_host(totals, run->host);
	for (size_t i = 0; !err && run->hosts && run->hosts[i]; i++)
		err = join_host(totals, run->hosts[i]);
	return err;
}

struct error *totals_add_run(struct totals *totals,
			     const struct run_record *run)
{
	struct run_record *sum = &totals->run;
	struct error *err = join_names(totals, run);

	for (size_t i = 0; !err && i < run->module_count; i++)
		err = join_module(totals, &run->modules[i]);
	if (err)
		return err;
	if (!totals->has_run) {
		sum->pid = run->pid;
		sum->start = run->start;
	}
	sum->pid = sum->pid == run->pid ? run->pid : 0;
	sum->seed = run->seed; /* of many runs it is not written */
	if (run->start < sum->start)
		sum->start = run->start;
	sum->runs += run->runs ? run->runs : 1;
	totals->has_run = true;
	return NULL;
}

static int compare_coverage(const void *key, const void *item)
{
	const struct run_coverage *a = key, *b = item;

	return order_texts(a->path, b->path);
}

static void take_larger(uint64_t *kept, uint64_t n)
{
	if (n > *kept)
		*kept = n;
}

static struct error *join_coverage(struct totals *totals,
				   const struct run_coverage *coverage)
{
	struct run_coverage *kept;
	const char *path;
	struct error *err;
	bool found;
	size_t i = find_place(&totals->coverage, coverage, compare_coverage,
			      &found);

	if (!found) {
		err = copy_text(coverage->path, &path);
		if (err)
			return err;
		kept = insert_at(&totals->coverage, i);
		if (!kept) {
			free_text(path);
			return error_nomem;
		}
		kept->path = path;
	}
	kept = vec_at(&totals->coverage, i);
	take_larger(&kept->sites_sampled, coverage->sites_sampled);
	take_larger(&kept->sites_eligible, coverage->sites_eligible);
	return NULL;
}

static void add(uint64_t *sum, uint64_t n)
{
	*sum = *sum > UINT64_MAX - n ? UINT64_MAX : *sum + n;
}

static int compare_at(const void *key, const void *item)
{
	const struct run_at *a = key, *b = item;

	return order_texts(a->where, b->where);
}

static struct error *insert_run_at(struct totals *totals,
				   const struct run_at *at, size_t i)
{
	struct run_at copy = { .where = NULL };
	struct error *err = copy_text(at->where, &copy.where);
	struct run_at *kept;

	if (!err)
		err = copy_text(at->problem, &copy.problem);
	kept = err ? NULL : insert_at(&totals->at, i);
	if (kept) {
		*kept = copy;
		return NULL;
	}
	free_text(copy.where);
	free_text(copy.problem);
	return error_nomem;
}

/* The same of two, whichever comes first. */
static struct error *join_problem(struct run_at *kept, const char *problem)
{
	const char *copy;
	struct error *err;

	if (order_texts(problem, kept->problem) >= 0)
		return NULL;
	err = copy_text(problem, &copy);
	if (err)
		return err;
	free_text(kept->problem);
	kept->problem = copy;
	return NULL;
}

/* A place that any of the runs has found has no problem. */
static struct error *join_at(struct totals *totals, const struct run_at *at)
{
	struct run_at *kept;
	bool found;
	size_t i = find_place(&totals->at, at, compare_at, &found);
	struct error *err = found ? NULL : insert_run_at(totals, at, i);

	if (err)
		return err;
	kept = vec_at(&totals->at, i);
	take_larger(&kept->sites, at->sites);
	add(&kept->samples, at->samples);
	if (kept->sites == 0)
		return join_problem(kept, at->problem);
	free_text(kept->problem);
	kept->problem = NULL;
	return NULL;
}

static void add_counters(struct run_summary *sum,
			 const struct run_summary *summary)
{
	add(&sum->races, summary->races);
	add(&sum->races_new, summary->races_new);
	add(&sum->suppressed, summary->suppressed);
	add(&sum->known, summary->known);
	add(&sum->unlikely, summary->unlikely);
	add(&sum->synchronization, summary->synchronization);
	add(&sum->samples, summary->samples);
	add(&sum->hits, summary->hits);
	take_larger(&sum->sites_sampled, summary->sites_sampled);
	take_larger(&sum->sites_eligible, summary->sites_eligible);
	add(&sum->watchpoint_traps, summary->watchpoint_traps);
	add(&sum->collisions, summary->collisions);
	add(&sum->value_changes, summary->value_changes);
	add(&sum->out_of_registers, summary->out_of_registers);
	add(&sum->dropped, summary->dropped);
	add(&sum->arms_refused, summary->arms_refused);
	add(&sum->arms, summary->arms);
	add(&sum->stops, summary->stops);
	add(&sum->unaffordable, summary->unaffordable);
	add(&sum->resting, summary->resting);
	if (summary->exit_status > sum->exit_status)
		sum->exit_status = summary->exit_status;
}

/* What one run does not tell is not known of the sum. */
static void add_sampling(struct run_sampling *sum,
			 const struct run_sampling *more, bool first)
{
	if (first) {
		*sum = *more;
		return;
	}
	if (!sum->known || !more->known) {
		*sum = (struct run_sampling){ .known = false };
		return;
	}
	add(&sum->stalled, more->stalled);
	add(&sum->own, more->own);
	take_larger(&sum->sites_sampled_own, more->sites_sampled_own);
	take_larger(&sum->sites_eligible_own, more->sites_eligible_own);
	take_larger(&sum->threads, more->threads);
	add(&sum->unwatched, more->unwatched);
	add(&sum->looks, more->looks);
	add(&sum->generated, more->generated);
	sum->proves_nothing = sum->proves_nothing && more->proves_nothing;
}

static uint64_t to_us(uint64_t ns)
{
	return ns / CLOCK_NS_PER_US +
	       (ns % CLOCK_NS_PER_US >= CLOCK_NS_PER_US / 2);
}

/* The percentage as time; what is no percentage is none. */
static uint64_t overhead_us(double pct, uint64_t elapsed_us)
{
	if (!(pct > 0 && pct < 1e6))
		return 0;
	return (uint64_t)(pct / 100 * (double)elapsed_us + 0.5);
}

static struct error *join_texts(struct totals *totals,
				const struct run_summary *summary)
{
	struct run_summary *kept = &totals->summary;
	bool first = !totals->has_summary;
	struct error *err = join_text(&kept->backend, summary->backend, first);

	if (!err)
		err = join_text(&kept->unsampled.reason,
				summary->unsampled.reason, first);
	if (!err)
		err = join_text(&kept->unsampled.text, summary->unsampled.text,
				first);
	return err;
}

struct error *totals_add_summary(struct totals *totals,
				 const struct run_summary *summary)
{
	uint64_t elapsed_us = to_us(summary->elapsed_ns);
	struct error *err = join_texts(totals, summary);

	for (size_t i = 0; !err && i < summary->coverage_count; i++)
		err = join_coverage(totals, &summary->coverage[i]);
	for (size_t i = 0; !err && i < summary->at_count; i++)
		err = join_at(totals, &summary->at[i]);
	if (err)
		return err;
	if (!totals->has_summary)
		totals->summary.budget_pct = summary->budget_pct;
	else if (totals->summary.budget_pct != summary->budget_pct)
		totals->summary.budget_pct = 0;
	add_sampling(&totals->summary.sampling, &summary->sampling,
		     !totals->has_summary);
	totals->has_summary = true;
	add_counters(&totals->summary, summary);
	add(&totals->elapsed_us, elapsed_us);
	add(&totals->stalled_us, to_us(summary->stalled_ns));
	add(&totals->cpu_us, to_us(summary->cpu_ns));
	add(&totals->overhead_us,
	    overhead_us(summary->overhead_pct, elapsed_us));
	add(&totals->start_us, overhead_us(summary->start_pct, elapsed_us));
	add(&totals->stops_us, overhead_us(summary->stops_pct, elapsed_us));
	add(&totals->computing_us,
	    overhead_us(summary->computing_pct, elapsed_us));
	return NULL;
}

void totals_run(const struct totals *totals, struct run_record *ret)
{
	*ret = totals->run;
	ret->command = totals->command.items;
	ret->hosts = totals->hosts.items;
	ret->modules = totals->modules.items;
	ret->module_count = totals->modules.count;
}

static double share_pct(const struct totals *totals, uint64_t us)
{
	return totals->elapsed_us
		       ? 100 * (double)us / (double)totals->elapsed_us
		       : 0;
}

void totals_summary(const struct totals *totals, struct run_summary *ret)
{
	uint64_t max_us = UINT64_MAX / CLOCK_NS_PER_US;

	*ret = totals->summary;
	ret->elapsed_ns =
		CLOCK_NS_PER_US *
		(totals->elapsed_us < max_us ? totals->elapsed_us : max_us);
	ret->stalled_ns =
		CLOCK_NS_PER_US *
		(totals->stalled_us < max_us ? totals->stalled_us : max_us);
	ret->cpu_ns = CLOCK_NS_PER_US *
		      (totals->cpu_us < max_us ? totals->cpu_us : max_us);
	ret->overhead_pct = share_pct(totals, totals->overhead_us);
	ret->start_pct = share_pct(totals, totals->start_us);
	ret->stops_pct = share_pct(totals, totals->stops_us);
	ret->computing_pct = share_pct(totals, totals->computing_us);
	ret->coverage = totals->coverage.items;
	ret->coverage_count = totals->coverage.count;
	ret->at = totals->at.items;
	ret->at_count = totals->at.count;
}
