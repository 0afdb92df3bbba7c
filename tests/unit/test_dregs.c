/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/x86/dregs.c: facts, then random claims and releases against a naive
 * reference that keeps every live piece in a list and counts the distinct ones.
 */
#include "x86/dregs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

static void claim_takes_one_slot_for_an_aligned_word(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs_claim claim;

	(void)state;
	assert_true(dregs_claim(&dregs, 0x1000, 8, DREGS_WRITE, false, &claim));
	assert_int_equal(claim.slots, 1);
	assert_int_equal(claim.covered, 8);
	assert_int_equal(dregs.slots[0].address, 0x1000);
	assert_int_equal(dregs.slots[0].length, 8);
	assert_int_equal(dregs.slots[0].users, 1);
}

static void claim_covers_unaligned_range_exactly(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs_claim claim;

	(void)state;
	/* 1001 as 1, 1002 as 2, 1004 as 4, 1008 as 1 */
	assert_true(dregs_claim(&dregs, 0x1001, 8, DREGS_WRITE, false, &claim));
	assert_int_equal(claim.slots, 15);
	assert_int_equal(dregs.slots[0].length, 1);
	assert_int_equal(dregs.slots[1].length, 2);
	assert_int_equal(dregs.slots[2].length, 4);
	assert_int_equal(dregs.slots[3].length, 1);
	assert_int_equal(dregs.slots[3].address, 0x1008);
}

static void claim_reuses_slot_of_same_range(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs_claim first;
	struct dregs_claim second;

	(void)state;
	assert_true(dregs_claim(&dregs, 0x1000, 8, DREGS_WRITE, false, &first));
	assert_true(
		dregs_claim(&dregs, 0x1000, 16, DREGS_WRITE, false, &second));
	assert_int_equal(second.slots, 3);
	assert_int_equal(dregs.slots[0].users, 2);
	dregs_release(&dregs, &first);
	assert_int_equal(dregs.slots[0].users, 1);
	dregs_release(&dregs, &second);
	assert_int_equal(dregs.slots[0].length, 0);
	assert_int_equal(dregs.slots[1].length, 0);
}

static void claim_does_not_share_another_type_or_length(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs_claim claim;

	(void)state;
	assert_true(dregs_claim(&dregs, 0x1000, 4, DREGS_WRITE, false, &claim));
	assert_true(dregs_claim(&dregs, 0x1000, 4, DREGS_READ_WRITE, false,
				&claim));
	/* what watches for reads too begins with the last */
	assert_int_equal(claim.slots, 8);
	assert_true(dregs_claim(&dregs, 0x1000, 2, DREGS_WRITE, false, &claim));
	assert_int_equal(claim.slots, 2);
	assert_true(dregs_claim(&dregs, 0x1002, 2, DREGS_READ_WRITE, false,
				&claim));
	assert_int_equal(claim.slots, 4);
}

static void failed_claim_leaves_no_trace(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs before;
	struct dregs_claim first;
	struct dregs_claim claim = { .size = 77 };

	(void)state;
	assert_true(
		dregs_claim(&dregs, 0x1000, 16, DREGS_WRITE, false, &first));
	before = dregs;
	/* shares two slots, takes the two others, and lacks a fifth */
	assert_false(
		dregs_claim(&dregs, 0x1000, 40, DREGS_WRITE, false, &claim));
	assert_memory_equal(&dregs, &before, sizeof(dregs));
	assert_int_equal(dregs.slots[0].users, 1);
	assert_int_equal(claim.size, 77);
}

static void partial_claim_covers_leading_bytes(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs_claim claim;

	(void)state;
	assert_true(dregs_claim(&dregs, 0x1000, 64, DREGS_READ_WRITE, true,
				&claim));
	assert_int_equal(claim.covered, 32);
	assert_int_equal(claim.size, 64);
	assert_int_equal(claim.slots, 15);
	assert_false(
		dregs_claim(&dregs, 0x2000, 1, DREGS_READ_WRITE, true, &claim));
	dregs_release(&dregs, &claim);
	assert_true(dregs_claim(&dregs, 0x2001, 64, DREGS_WRITE, true, &claim));
	assert_int_equal(claim.covered, 15);
}

/* Then no slot ever changes its type. */
static void each_type_has_its_half_where_that_is_asked_for(void **state)
{
	struct dregs dregs = { .halves = true };
	struct dregs_claim claim;

	(void)state;
	assert_true(dregs_claim(&dregs, 0x1000, 32, DREGS_READ_WRITE, true,
				&claim));
	assert_int_equal(claim.covered, 16);
	assert_int_equal(claim.slots, 0xc);
	assert_false(
		dregs_claim(&dregs, 0x2000, 1, DREGS_READ_WRITE, true, &claim));
	assert_true(dregs_claim(&dregs, 0x3000, 24, DREGS_WRITE, true, &claim));
	assert_int_equal(claim.covered, 16);
	assert_int_equal(claim.slots, 0x3);
	/* the same bytes need no other slot */
	assert_true(dregs_claim(&dregs, 0x1008, 8, DREGS_READ_WRITE, false,
				&claim));
}

static void what_others_have_stays_free(void **state)
{
	struct dregs dregs = { .taken = 3 };
	struct dregs_claim first, second;

	(void)state;
	assert_int_equal(dregs_free(&dregs), 1);
	assert_true(dregs_claim(&dregs, 0x1000, 8, DREGS_WRITE, false, &first));
	assert_int_equal(dregs_free(&dregs), 0);
	assert_false(
		dregs_claim(&dregs, 0x2000, 8, DREGS_WRITE, true, &second));
	/* the same piece takes none */
	assert_true(
		dregs_claim(&dregs, 0x1000, 8, DREGS_WRITE, false, &second));
	dregs_release(&dregs, &first);
	dregs_release(&dregs, &second);
	/* as much as there is */
	dregs.taken = 2;
	assert_true(dregs_claim(&dregs, 0x1001, 8, DREGS_WRITE, true, &first));
	assert_int_equal(first.covered, 3);
	dregs.taken = 4;
	dregs_release(&dregs, &first);
	assert_int_equal(dregs_free(&dregs), 0);
	assert_false(dregs_claim(&dregs, 0x1000, 1, DREGS_WRITE, true, &first));
}

static void senseless_ranges_are_refused(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs_claim claim;

	(void)state;
	assert_false(dregs_claim(&dregs, 0x1000, 0, DREGS_WRITE, true, &claim));
	assert_false(
		dregs_claim(&dregs, 0x1000, 65, DREGS_WRITE, true, &claim));
	assert_false(
		dregs_claim(&dregs, UINT64_MAX, 2, DREGS_WRITE, true, &claim));
	assert_true(
		dregs_claim(&dregs, UINT64_MAX, 1, DREGS_WRITE, true, &claim));
}

static void control_is_as_the_manual_has_it(void **state)
{
	struct dregs dregs = { 0 };
	struct dregs_claim claim;

	(void)state;
	assert_int_equal(dregs_control(&dregs), 0);
	assert_true(dregs_claim(&dregs, 0x1000, 1, DREGS_WRITE, false, &claim));
	assert_true(dregs_claim(&dregs, 0x1002, 2, DREGS_READ_WRITE, false,
				&claim));
	assert_true(dregs_claim(&dregs, 0x1004, 4, DREGS_WRITE, false, &claim));
	assert_true(dregs_claim(&dregs, 0x1008, 8, DREGS_READ_WRITE, false,
				&claim));
	/* enables L0 to L3; LEN and R/W: 1-byte W, 4 W, 8 RW, 2 RW */
	assert_int_equal(dregs_control(&dregs), 0x7bd10055);
}

static void neutral_control_disables_with_length_one(void **state)
{
	(void)state;
	assert_int_equal(dregs_control_neutral(), 0x11110000);
}

/* The reference: live pieces of live claims, one entry each. */
enum { CLAIMS = 12, PIECES = 64, STEPS = 40000, SEEDS = 4 };

struct piece {
	uint64_t address;
	uint32_t length;
	uint32_t type;
};

struct live {
	bool used;
	struct dregs_claim claim;
	struct piece pieces[PIECES];
	int count;
};

/* The cover, by trying lengths from the largest, as the header states it. */
static int split(uint64_t address, uint32_t size, uint32_t type,
		 struct piece *pieces)
{
	int count = 0;

	while (size > 0) {
		uint32_t length = 1;

		for (uint32_t try = 2; try <= 8 && try <= size; try *= 2) {
			if (address % try == 0)
				length = try;
		}
		pieces[count++] = (struct piece){ address, length, type };
		address += length;
		size -= length;
	}
	return count;
}

static bool same_piece(const struct piece *a, const struct piece *b)
{
	return a->address == b->address && a->length == b->length &&
	       a->type == b->type;
}

/* Distinct pieces among the live claims. */
static int distinct(const struct live *live, struct piece *pieces)
{
	int count = 0;

	for (int i = 0; i < CLAIMS; i++) {
		for (int j = 0; live[i].used && j < live[i].count; j++) {
			int k = 0;

			while (k < count &&
			       !same_piece(&pieces[k], &live[i].pieces[j]))
				k++;
			if (k == count)
				pieces[count++] = live[i].pieces[j];
		}
	}
	return count;
}

static int users_of(const struct live *live, const struct piece *piece)
{
	int users = 0;

	for (int i = 0; i < CLAIMS; i++) {
		for (int j = 0; live[i].used && j < live[i].count; j++)
			users += same_piece(&live[i].pieces[j], piece);
	}
	return users;
}

/* Slots and reference hold the same pieces with the same users. */
static void check_mirror(const struct dregs *dregs, const struct live *live)
{
	struct piece pieces[CLAIMS * DREGS_SLOTS];
	int count = distinct(live, pieces);
	int used = 0;

	for (int i = 0; i < DREGS_SLOTS; i++) {
		const struct dregs_slot *slot = &dregs->slots[i];
		struct piece piece = { slot->address, slot->length,
				       slot->type };

		if (slot->length == 0)
			continue;
		used++;
		assert_int_equal(slot->users, users_of(live, &piece));
		assert_true(slot->users > 0);
		assert_int_equal(slot->address % slot->length, 0);
	}
	assert_int_equal(used, count);
}

/* How many leading pieces the reference can place, after what is live. */
static int placeable(struct live *live, const struct piece *wanted, int count)
{
	struct piece pieces[CLAIMS * DREGS_SLOTS + PIECES];
	int used = distinct(live, pieces);

	for (int i = 0; i < count; i++) {
		int k = 0;

		while (k < used && !same_piece(&pieces[k], &wanted[i]))
			k++;
		if (k < used)
			continue;
		if (used == DREGS_SLOTS)
			return i;
		pieces[used++] = wanted[i];
	}
	return count;
}

static void random_claim(struct dregs *dregs, struct live *live,
			 struct live *mine, struct rng *rng)
{
	uint64_t address = 0x1000 + rng_below(rng, 24);
	uint32_t size = (uint32_t)rng_below(rng, 3)
				? 1 + (uint32_t)rng_below(rng, 10)
				: 1 + (uint32_t)rng_below(rng, 64);
	enum dregs_type type = rng_below(rng, 2) ? DREGS_WRITE
						 : DREGS_READ_WRITE;
	bool partial = rng_below(rng, 2) != 0;
	int wanted = split(address, size, type, mine->pieces);
	int fits = placeable(live, mine->pieces, wanted);
	struct dregs before = *dregs;
	bool good =
		dregs_claim(dregs, address, size, type, partial, &mine->claim);
	uint32_t covered = 0;

	assert_int_equal(good, partial ? fits > 0 : fits == wanted);
	if (!good) {
		assert_memory_equal(&before, dregs, sizeof(before));
		return;
	}
	for (int i = 0; i < fits; i++)
		covered += mine->pieces[i].length;
	assert_int_equal(mine->claim.covered, covered);
	mine->count = fits;
	mine->used = true;
}

static void random_sequences_agree_with_reference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dregs dregs = { 0 };
		struct live live[CLAIMS] = { 0 };
		struct rng rng;

		rng_init(&rng, seed);
		for (int step = 0; step < STEPS; step++) {
			struct live *mine = &live[rng_below(&rng, CLAIMS)];

			if (mine->used) {
				mine->used = false;
				dregs_release(&dregs, &mine->claim);
			} else {
				random_claim(&dregs, live, mine, &rng);
			}
			check_mirror(&dregs, live);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claim_takes_one_slot_for_an_aligned_word),
		cmocka_unit_test(claim_covers_unaligned_range_exactly),
		cmocka_unit_test(claim_reuses_slot_of_same_range),
		cmocka_unit_test(claim_does_not_share_another_type_or_length),
		cmocka_unit_test(failed_claim_leaves_no_trace),
		cmocka_unit_test(partial_claim_covers_leading_bytes),
		cmocka_unit_test(
			each_type_has_its_half_where_that_is_asked_for),
		cmocka_unit_test(what_others_have_stays_free),
		cmocka_unit_test(senseless_ranges_are_refused),
		cmocka_unit_test(control_is_as_the_manual_has_it),
		cmocka_unit_test(neutral_control_disables_with_length_one),
		cmocka_unit_test(random_sequences_agree_with_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
