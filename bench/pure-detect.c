/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of bench/pure, what is done to sample: instructions to accesses, locations
 * drawn, what hits teach.
 */
#include "pure.h"

#include <stdint.h>

/* both have an enum x86_reg */
#define x86_reg capstone_x86_reg
#include <capstone/capstone.h>
#undef x86_reg

#include "base/error.h"
#include "base/map.h"
#include "base/rng.h"
#include "image/elftext.h"
#include "report/learned.h"
#include "sampling/granules.h"
#include "sampling/learn.h"
#include "sampling/sampler.h"
#include "schedule/lengths.h"
#include "x86/decode.h"
#include "x86/effective.h"

enum {
	FUNCTIONS = 2048, /* of the program that is sampled */
	SITES_EACH = 8,
	THREADS = 8,
	WORDS = 4096, /* of memory that hits touch */
};

/* Instructions: those of a program's function, one after the other. */

struct text {
	struct decoder *decoder;
	uint8_t bytes[PURE_TEXT_MAX];
	size_t size;
};

static void text_init(struct text *text)
{
	text->size = pure_corpus("decode/function", text->bytes, PURE_TEXT_MAX);
	pure_must(decoder_create(&text->decoder));
}

static size_t text_next(struct text *text, size_t at, struct insn_access *ret)
{
	decoder_decode(text->decoder, text->bytes + at, text->size - at,
		       0x401000 + at, ret);
	return (at + ret->length) % text->size;
}

void pure_decode(unsigned long n)
{
	struct insn_access insn;
	struct text text;

	text_init(&text);
	for (size_t at = 0; n > 0; n--)
		at = text_next(&text, at, &insn);
	decoder_destroy(text.decoder);
}

/* The same by Capstone alone, with operand details, as x86/decode asks it. */
void pure_capstone(unsigned long n)
{
	const uint8_t *bytes = NULL;
	struct text text;
	uint64_t address = 0;
	csh handle;
	cs_insn *insn;
	size_t left = 0;

	text_init(&text);
	pure_require(cs_open(CS_ARCH_X86, CS_MODE_64, &handle) == CS_ERR_OK &&
			     cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON) ==
				     CS_ERR_OK,
		     "Capstone");
	insn = cs_malloc(handle);
	pure_require(insn != NULL, "Capstone");
	for (; n > 0; n--) {
		if (left == 0) {
			bytes = text.bytes;
			left = text.size;
			address = 0x401000;
		}
		if (!cs_disasm_iter(handle, &bytes, &left, &address, insn))
			left = 0;
	}
	cs_free(insn, 1);
	cs_close(&handle);
	decoder_destroy(text.decoder);
}

/* The instruction before each place that a trap may be told at. */
void pure_trapped(unsigned long n)
{
	struct mem_access watched = { 0x1000, X86_ACCESS_MAX, ACCESS_WRITE };
	struct x86_registers regs = { .rip = 0 };
	struct insn_access insn;
	struct text text;
	uint64_t address;

	text_init(&text);
	for (int i = 0; i < 16; i++)
		regs.gpr[i] = 0x1000;
	for (size_t at = 0; n > 0; n--) {
		at = text_next(&text, at, &insn);
		regs.rip = 0x401000 + at;
		decode_find_trapped(text.decoder, text.bytes, text.size,
				    0x401000, &regs, &watched, &address, &insn);
	}
	decoder_destroy(text.decoder);
}

void pure_address(unsigned long n)
{
	struct mem_access accesses[X86_OPERANDS_MAX];
	struct x86_registers regs = { .rip = 0x401000, .gpr = { 0x1000 } };
	struct insn_access insns[64];
	struct text text;
	size_t at = 0;

	text_init(&text);
	for (unsigned int i = 0; i < 64; i++)
		at = text_next(&text, at, &insns[i]);
	for (; n > 0; n--)
		effective_accesses(&insns[n % 64], &regs, accesses);
	decoder_destroy(text.decoder);
}

/* The sampler, over functions of 64 to 575 bytes. */

static struct error *made_up(void *context, uint32_t part, uint32_t function,
			     struct vec *offsets)
{
	(void)context;
	(void)part;
	for (uint32_t i = 0; i < SITES_EACH; i++) {
		uint32_t offset = i * 7 + function % 5;

		if (!vec_push(offsets, &offset))
			return error_nomem;
	}
	return NULL;
}

static void sampler_make(struct sampler *sampler, uint64_t seed)
{
	static const struct sampler_text text = { .decode = made_up };
	uint32_t sizes[FUNCTIONS], part;

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		sizes[i] = 64 + i * 37 % 512;
	sampler_init(sampler, &text, seed);
	pure_must(sampler_add(sampler, sizes, FUNCTIONS, false, &part));
}

static uint64_t draw_one(struct sampler *sampler)
{
	uint64_t id = 0;

	pure_must(sampler_draw(sampler, &id));
	pure_require(id != 0, "no site");
	return id;
}

/* All is decoded, as it soon is. */
void pure_draw(unsigned long n)
{
	struct sampler sampler;
	bool done;

	sampler_make(&sampler, 1);
	pure_must(sampler_work(&sampler, UINT64_MAX, &done));
	for (; n > 0; n--)
		sampler_return(&sampler, draw_one(&sampler), SAMPLER_RAN);
	sampler_deinit(&sampler);
}

/* The program has just been attached to, and its first sites are drawn. */
void pure_draw_first(unsigned long n)
{
	for (; n > 0; n--) {
		struct sampler sampler;

		sampler_make(&sampler, n);
		for (int i = 0; i < 16; i++)
			draw_one(&sampler);
		sampler_deinit(&sampler);
	}
}

/* What hits teach. */

static struct granules_event event_draw(struct rng *rng, uint64_t sites)
{
	uint64_t bits = rng_next(rng);

	return (struct granules_event){
		.site = (uint32_t)rng_below(rng, sites),
		.pid = 100,
		.tid = 100 + (int)(bits % THREADS),
		.access = { 0x10000 + (bits >> 8) % WORDS * 8, 8,
			    bits & 64 ? ACCESS_WRITE : ACCESS_READ },
	};
}

void pure_table(unsigned long n)
{
	uint32_t met[GRANULES_MET_MAX];
	struct granules granules;
	struct rng rng;

	rng_init(&rng, 1);
	granules_init(&granules);
	for (; n > 0; n--) {
		struct granules_event event = event_draw(&rng, 1000);

		granules_add(&granules, &event, met);
	}
	granules_deinit(&granules);
}

static void learned_make(struct learned *learned, uint64_t sites)
{
	learned_init(learned);
	learned_module(learned, "/usr/bin/x", NULL);
	for (uint64_t i = 0; i < sites; i++)
		learned_site(learned, 0, i * 5);
}

void pure_learn(unsigned long n)
{
	struct learned learned;
	struct learn learn;
	struct rng rng;

	rng_init(&rng, 1);
	learned_make(&learned, 64);
	pure_require(learn_init(&learn, &learned, 1), "memory");
	for (; n > 0; n--) {
		struct learn_hit hit = { .event = event_draw(&rng, 64),
					 .stalled = true };

		pure_require(learn_hit(&learn, &hit), "memory");
		learn_draw(&learn);
	}
	learn_deinit(&learn);
	learned_deinit(&learned);
}

void pure_lengths(unsigned long n)
{
	struct lengths lengths = { .noted = 0 };
	struct rng rng;

	rng_init(&rng, 1);
	for (; n > 0; n--) {
		uint64_t site = rng_below(&rng, 1000);

		lengths_note(&lengths, site, n % 64 == 0, 100000);
		lengths_of(&lengths, site, 1000000, n % 2);
	}
	lengths_deinit(&lengths);
}

void pure_map(unsigned long n)
{
	struct map map = { .count = 0 };
	struct rng rng;

	rng_init(&rng, 1);
	for (; n > 0; n--) {
		uint64_t key = rng_below(&rng, 4096) * 8;

		pure_require(map_set(&map, key, n), "memory");
		map_remove(&map, key ^ 64);
	}
	map_deinit(&map);
}

/* The functions and symbols of a file. */
void pure_elf(unsigned long n)
{
	for (; n > 0; n--) {
		char path[PURE_PATH_MAX];
		struct elftext *text;
		size_t count;

		pure_path("CORPUS", "elf/shared_gnu_hash", path);
		pure_must(elftext_open(path, "shared", &text));
		elftext_functions(text, &count);
		pure_require(count > 0, "functions");
		elftext_close(text);
	}
}
