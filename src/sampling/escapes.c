/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the addresses that a call passes are stored; see escapes.h. Results of
 * each function are cached.
 */
#include "sampling/escapes.h"

#include <string.h>

#include "dataflow/frame.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/creators.h"
#include "x86/access.h"
#include "x86/decode.h"

enum {
	/* calls from the one that is asked about to the store */
	ESCAPES_DEPTH = 3,
	/* functions that are decoded for one answer, and bytes of each */
	ESCAPES_FUNCTIONS = 32,
	ESCAPES_BYTES = 2048,
	ESCAPES_MODULE_SHIFT = 48,
};

/* What is known of a function. */
struct escapes_known {
	uint8_t looked; /* how many calls deep */
	struct frame_arguments arguments;
};

_Static_assert(sizeof(struct escapes_known) <= sizeof(uint64_t),
	       "it fits into a value of the map");

/* One question. */
struct escapes_search {
	struct escapes *escapes;
	const struct module *module;
	unsigned int left; /* functions that may be decoded yet */
};

void escapes_init(struct escapes *escapes, struct creators *creators,
		  struct decoder *decoder)
{
	*escapes = (struct escapes){ .creators = creators, .decoder = decoder };
}

void escapes_deinit(struct escapes *escapes)
{
	map_deinit(&escapes->known);
}

/* No file has so much text. */
static uint64_t escapes_key(const struct module *module, uint64_t start)
{
	return start + (module->id << ESCAPES_MODULE_SHIFT);
}

static struct escapes_known escapes_get(const struct escapes *escapes,
					uint64_t key)
{
	const uint64_t *value = map_get(&escapes->known, key);
	struct escapes_known known = { 0 };

	if (value)
		memcpy(&known, value, sizeof(known));
	return known;
}

static void escapes_set(struct escapes *escapes, uint64_t key,
			const struct escapes_known *known)
{
	uint64_t value = 0;

	memcpy(&value, known, sizeof(*known));
	/* forgotten when out of memory: looked for again */
	(void)map_set(&escapes->known, key, value);
}

static void escapes_pass(struct escapes_search *search, uint64_t address,
			 const struct insn_access *insn, unsigned int depth,
			 struct frame *frame);

/* A jump out of the function is the call of another one, at its end. */
static bool escapes_is_call(const struct insn_access *insn,
			    const struct elf_function *function)
{
	return insn->flow == X86_FLOW_CALL ||
	       (insn->flow == X86_FLOW_JUMP && !insn->indirect &&
		insn->target - function->start >= function->size);
}

/* What a function does with its arguments. */
static void escapes_decode(struct escapes_search *search,
			   const struct elf_function *function,
			   const uint8_t *bytes, unsigned int depth,
			   struct frame_arguments *ret)
{
	uint64_t start = function->start, size = function->size, at = 0;
	struct insn_access insn;
	struct frame frame;

	frame_begin_arguments(&frame, start, start + size);
	for (; at < size; at += insn.length) {
		decoder_decode(search->escapes->decoder, bytes + at, size - at,
			       start + at, &insn);
		if (insn.refusal == X86_REFUSED_UNDECODABLE)
			break;
		frame_arrive(&frame, start + at);
		if (escapes_is_call(&insn, function) && frame_passes(&frame))
			escapes_pass(search, start + at, &insn, depth, &frame);
		frame_step(&frame, bytes + at, size - at, &insn);
	}
	frame_settle(&frame);
	*ret = frame.arguments;
}

/* The same, followed through at most `depth' calls; none: it is not known. */
static struct frame_arguments escapes_of(struct escapes_search *search,
					 uint64_t target, unsigned int depth)
{
	const struct elftext *text = search->module->text;
	const struct elf_function *function = elftext_function_at(text, target);
	const struct frame_arguments none = { 0 };
	uint64_t key = escapes_key(search->module, target);
	struct escapes_known known;
	const uint8_t *bytes;
	size_t size = 0;

	if (!function || function->start != target ||
	    function->size > ESCAPES_BYTES)
		return none;
	known = escapes_get(search->escapes, key);
	if (known.looked >= depth)
		return known.arguments;
	bytes = elftext_bytes(text, target, &size);
	if (!bytes || size < function->size || search->left == 0)
		return known.arguments;
	search->left--;
	/* a recursive call leads nowhere new */
	known.looked = (uint8_t)depth;
	escapes_set(search->escapes, key, &known);
	escapes_decode(search, function, bytes, depth, &known.arguments);
	escapes_set(search->escapes, key, &known);
	return known.arguments;
}

/*
 * Of a function that leads to a creator by further calls, what is asked about is
 * taken to get there. Deeper, only what is seen to get there counts.
 */
static void escapes_pass(struct escapes_search *search, uint64_t address,
			 const struct insn_access *insn, unsigned int depth,
			 struct frame *frame)
{
	unsigned int calls = creators_call(search->escapes->creators,
					   search->module, address, insn);
	struct frame_arguments arguments;

	if (calls == 1 || (calls > 0 && depth > ESCAPES_DEPTH)) {
		frame_pass(frame, calls == 1);
		return;
	}
	if (depth <= 1 || insn->indirect)
		return;
	arguments = escapes_of(search, insn->target, depth - 1);
	frame_pass_to(frame, &arguments);
}

void escapes_call(struct escapes *escapes, const struct module *module,
		  uint64_t address, const struct insn_access *insn,
		  struct frame *frame)
{
	struct escapes_search search = {
		.escapes = escapes,
		.module = module,
		.left = ESCAPES_FUNCTIONS,
	};

	escapes_pass(&search, address, insn, ESCAPES_DEPTH + 1, frame);
}
