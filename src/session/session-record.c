/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording by breakpoints; see session-record.h. Sites are those of the rules
 * (sampling/rules.h), and atomic accesses besides, which may conflict with others.
 */
#include "session/session-state.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/unwind.h"
#include "sampling/rules.h"
#include "sampling/scan.h"
#include "session/recording.h"
#include "wire/record.h"

enum {
	RECORD_BATCH = 512, /* sites in a message */
	/* for the tracer to read, as often and as many ms each */
	RECORD_WAITS = 1000,
	RECORD_WAIT_MS = 10,
	RECORD_FRAMES = SESSION_RETURNS + 1,
	RECORD_SHAPES_MAX = 1 << 16,
	RECORD_SHAPES_TRIED = 8, /* of one pc */
};

/* A module of a program whose sites the tracer has. */
struct session_sent {
	uint32_t program;
	uint64_t module;
};

/* Return addresses, and where they are above the stack pointer. */
struct session_shape {
	uint64_t pc;
	uint32_t next; /* of this pc, from 1 on; 0: none */
	uint32_t count;
	uint64_t returns[SESSION_RETURNS];
	uint32_t offsets[SESSION_RETURNS];
};

/* The sites of a module on their way. */
struct record_batch {
	struct session *session;
	struct watched_program *program;
	struct scanner scanner;
	struct vec insns; /* of struct scan_site, of one function */
	struct vec sites; /* of struct wire_site */
	uint64_t sent; /* of the program, so far */
};

void session_record_init(struct session *session)
{
	session->recorder = (struct session_recorder){
		.sent = VEC_INIT(struct session_sent),
		.shapes = VEC_INIT(struct session_shape),
	};
}

void session_record_deinit(struct session *session)
{
	vec_deinit(&session->recorder.sent);
	vec_deinit(&session->recorder.shapes);
	map_deinit(&session->recorder.shape_of);
}

bool session_record_wants(const struct session *session,
			  struct watched_program *program)
{
	const struct session_recording *recording = session->config->record;
	char link[32], path[PATH_MAX];
	ssize_t length;

	/* those of libraries that are loaded later go on with its numbers */
	if (program->recorded == SESSION_UNRECORDED)
		program->recorded = 0;
	if (!recording->wants)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/exe", program->pid);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	if (!recording->wants(recording->context, path))
		program->recorded = SESSION_UNRECORDED;
	return program->recorded != SESSION_UNRECORDED;
}

/* --- sites --- */

/* The tracer is waited for where it has not read what was sent before. */
static bool record_flush(struct record_batch *batch)
{
	struct channel *channel = &batch->session->channel;
	struct pollfd poller = { .fd = channel->fd, .events = POLLOUT };
	bool sent = batch->sites.count == 0;

	for (int i = 0; !sent && !channel->deaf && i < RECORD_WAITS; i++) {
		sent = channel_send(channel, WIRE_RECORD, batch->sites.items,
				    batch->sites.count * batch->sites.size);
		if (sent)
			break;
		poll(&poller, 1, RECORD_WAIT_MS);
		channel_flush(channel);
	}
	vec_clear(&batch->sites);
	return sent || channel->deaf;
}

/* False: out of memory, or the tracer takes no more. */
static bool record_add(struct record_batch *batch, const struct module *module,
		       uint64_t address, const struct insn_access *insn,
		       enum wire_record kind)
{
	struct wire_site *site = vec_append(&batch->sites);
	size_t size = 0;
	const uint8_t *bytes = elftext_bytes(module->text, address, &size);

	if (!site)
		return false;
	memcpy(site->bytes, bytes, size < insn->length ? size : insn->length);
	site->id = WIRE_AIMED | ++batch->sent;
	site->address = address + module->bias;
	site->function = site->address;
	site->program = batch->program->id;
	site->insn = *insn;
	site->record = kind;
	return batch->sites.count < RECORD_BATCH || record_flush(batch);
}

static bool record_is_site(const struct scan_site *site)
{
	bool atomic = site->rule == RULE_SYNCHRONIZING ||
		      site->rule == RULE_ATOMIC_CODE ||
		      site->rule == RULE_ATOMIC_TYPE;

	return site->insn.operand_count > 0 && site->insn.refusal == X86_OK &&
	       (site->rule == RULE_SITE || atomic);
}

static struct error *record_function(struct record_batch *batch,
				     struct module *module,
				     const struct elf_function *function)
{
	struct error *err;

	if (rules_function(batch->scanner.rules, batch->program->image, module,
			   rules_module_part(module), function) != RULE_SITE)
		return NULL;
	vec_clear(&batch->insns);
	err = scan_function_all(&batch->scanner, module, function,
				&batch->insns);
	for (size_t i = 0; !err && i < batch->insns.count; i++) {
		struct scan_site *site = vec_at(&batch->insns, i);

		/* by debug information, a plain move may be atomic too */
		site->insn.synchronizes |= site->rule == RULE_ATOMIC_CODE ||
					   site->rule == RULE_ATOMIC_TYPE;
		if (record_is_site(site) &&
		    !record_add(batch, module, site->address, &site->insn,
				WIRE_RECORD_ACCESS))
			err = error_nomem;
	}
	return err;
}

/* By whatever of its names is known. */
static bool record_is_join(const struct elf_function *function)
{
	return function->name &&
	       strcmp(function->name + strspn(function->name, "_"),
		      "pthread_join") == 0;
}

/* Where threads are joined: what comes after it is ordered. */
static struct error *record_joins(struct record_batch *batch,
				  struct module *module)
{
	size_t count = 0;
	const struct elf_function *functions =
		elftext_functions(module->text, &count);

	for (size_t i = 0; i < count; i++) {
		struct insn_access insn;

		if ((functions[i].initial != 'p' &&
		     functions[i].initial != '_' && functions[i].initial) ||
		    !record_is_join(&functions[i]))
			continue;
		scan_instruction(&batch->scanner, module, functions[i].start,
				 &insn);
		if (insn.refusal != X86_REFUSED_UNDECODABLE &&
		    !record_add(batch, module, functions[i].start, &insn,
				WIRE_RECORD_JOIN))
			return error_nomem;
	}
	return NULL;
}

static struct error *record_module(struct record_batch *batch,
				   struct module *module)
{
	struct error *err = record_joins(batch, module);
	const struct elf_function *functions;
	size_t count = 0;

	if (err || !rules_module_meant(batch->scanner.rules, module))
		return err;
	functions = elftext_functions(module->text, &count);
	for (size_t i = 0; !err && i < count; i++)
		err = record_function(batch, module, &functions[i]);
	log_debug(LOG_DETECT, "%llu sites with those of %s",
		  (unsigned long long)batch->sent, module->path);
	return err;
}

static bool record_was_sent(const struct session *session,
			    const struct session_sent *wanted)
{
	const struct vec *sent = &session->recorder.sent;

	for (size_t i = 0; i < sent->count; i++) {
		const struct session_sent *one = vec_at(sent, i);

		if (one->program == wanted->program &&
		    one->module == wanted->module)
			return true;
	}
	return false;
}

/* A module that is new; NULL: there is none. */
static struct module *record_next(const struct session *session,
				  const struct watched_program *program)
{
	const struct vec *modules = image_modules(program->image);

	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);
		struct session_sent sent = { program->id, module->id };

		if (module->text && !module->vdso &&
		    !record_was_sent(session, &sent))
			return module;
	}
	return NULL;
}

static struct error *record_modules(struct record_batch *batch)
{
	struct vec *sent = &batch->session->recorder.sent;
	struct error *err = NULL;
	struct module *module;

	while (!err && (module = record_next(batch->session, batch->program))) {
		struct session_sent *one = vec_append(sent);

		if (!one)
			return error_nomem;
		*one = (struct session_sent){ batch->program->id, module->id };
		err = record_module(batch, module);
	}
	if (!err && !record_flush(batch))
		err = error_nomem;
	return err;
}

static struct error *record_news(struct session *session,
				 struct watched_program *program)
{
	struct record_batch batch = {
		.session = session,
		.program = program,
		.insns = VEC_INIT(struct scan_site),
		.sites = VEC_INIT(struct wire_site),
		.sent = program->recorded,
	};
	struct error *err = scanner_init(&batch.scanner, program->image,
					 session->config->rules);

	if (!err)
		err = record_modules(&batch);
	program->recorded = batch.sent;
	scanner_deinit(&batch.scanner);
	vec_deinit(&batch.insns);
	vec_deinit(&batch.sites);
	return err;
}

struct error *session_record(struct session *session)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < session->watched.programs.count; i++) {
		struct watched_program *program =
			watched_at(&session->watched, i);

		if (!watched_is_mapped(program) || !program->threaded ||
		    program->recorded == SESSION_UNRECORDED)
			continue;
		if (record_next(session, program))
			err = record_news(session, program);
		session_end_startup(session, program);
	}
	return err;
}

/* --- what was executed --- */

static bool shape_fits(const struct session_shape *shape,
		       const struct unwind_input *input)
{
	for (uint32_t i = 0; i < shape->count; i++) {
		uint64_t word;

		if (shape->offsets[i] + sizeof(word) > input->stack_size)
			return false;
		memcpy(&word, input->stack + shape->offsets[i], sizeof(word));
		if (word != shape->returns[i])
			return false;
	}
	return true;
}

/* One that an earlier stack had. Unwinding takes as long as ten stops. */
static const struct session_shape *
shape_find(const struct session_recorder *recorder,
	   const struct unwind_input *input)
{
	const uint64_t *last = map_get(&recorder->shape_of, input->regs.rip);
	uint32_t at = last ? (uint32_t)*last : 0;

	for (int i = 0; at != 0 && i < RECORD_SHAPES_TRIED; i++) {
		const struct session_shape *shape =
			vec_at(&recorder->shapes, at - 1);

		if (shape_fits(shape, input))
			return shape;
		at = shape->next;
	}
	return NULL;
}

/* Kept if all of the stack's return addresses were found in the bytes. */
static void shape_keep(struct session_recorder *recorder,
		       const struct session_shape *shape)
{
	const uint64_t *last = map_get(&recorder->shape_of, shape->pc);
	struct session_shape kept = *shape;

	if (recorder->shapes.count >= RECORD_SHAPES_MAX)
		return;
	kept.next = last ? (uint32_t)*last : 0;
	if (vec_push(&recorder->shapes, &kept))
		map_set(&recorder->shape_of, shape->pc, recorder->shapes.count);
}

static void shape_of_frames(const struct unwind_input *input,
			    const struct unwind_frame *frames, size_t count,
			    struct session_shape *ret, bool *ret_whole)
{
	*ret = (struct session_shape){ .pc = input->regs.rip };
	*ret_whole = true;
	for (size_t i = 1; i < count && i <= SESSION_RETURNS; i++) {
		uint64_t cfa = frames[i - 1].registers.cfa;
		uint64_t at = cfa - sizeof(cfa) - input->stack_address;

		ret->returns[ret->count] = frames[i].pc;
		ret->offsets[ret->count] = (uint32_t)at;
		ret->count++;
		*ret_whole &= cfa != 0 && at < input->stack_size;
	}
}

static struct error *record_unwind(struct session *session,
				   const struct watched_program *program,
				   const struct unwind_input *input,
				   struct session_shape *ret)
{
	struct unwind_frame frames[RECORD_FRAMES];
	struct error *err;
	size_t count;
	bool whole;

	err = unwind_frames_by(UNWIND_UNW, program->image, input, frames,
			       RECORD_FRAMES, &count);
	if (err)
		return err;
	shape_of_frames(input, frames, count, ret, &whole);
	whole &= shape_fits(ret, input);
	if (whole)
		shape_keep(&session->recorder, ret);
	return NULL;
}

struct error *session_recorded(struct session *session, const void *payload,
			       size_t size)
{
	const struct wire_recorded *news = payload;
	const struct watched_program *program;
	struct session_shape shape = { .count = 0 };
	const struct session_shape *known;
	struct session_recorded executed;
	struct unwind_input input;
	struct error *err = NULL;

	if (size < sizeof(*news) || size - sizeof(*news) < news->stack_size ||
	    !session->sink->recorded)
		return NULL;
	program = watched_program(&session->watched, news->program);
	input = (struct unwind_input){
		.tid = news->tid,
		.regs = news->regs,
		.stack_address = news->regs.gpr[X86_RSP],
		.stack = (const uint8_t *)(news + 1),
		.stack_size = news->stack_size,
	};
	known = news->stack_size > 0 ? shape_find(&session->recorder, &input)
				     : NULL;
	if (known)
		shape = *known;
	else if (news->stack_size > 0 && program && watched_is_mapped(program))
		err = record_unwind(session, program, &input, &shape);
	if (err)
		return err;
	executed = (struct session_recorded){
		.wire = news,
		.returns = shape.returns,
		.return_count = shape.count,
		.path = program ? watched_path(program) : NULL,
		.maps = program && program->image ? image_maps(program->image)
						  : NULL,
	};
	session->sink->recorded(session->sink->context, &executed);
	return NULL;
}
