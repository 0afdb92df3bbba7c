/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages of the front end, checked; see sound.h.
 */
#include "wire/sound.h"

#include <signal.h>
#include <stdint.h>

#include "wire/record.h"
#include "x86/int3.h"

enum {
	ADDRESS_BITS =
		56, /* of a program's addresses, with five-level paging */
	PROVOKE_SIDES = (1U << WIRE_PROVOKE_SIDES) - 1,
};

/* A byte that is neither 0 nor 1 must not be read as a bool. */
static bool sound_flag(const bool *flag)
{
	return *(const unsigned char *)flag <= 1;
}

static bool sound_range(uint64_t start, uint64_t end)
{
	return start <= end && end <= UINT64_C(1) << ADDRESS_BITS;
}

static bool sound_operand(const struct mem_operand *operand)
{
	return operand->kind >= ACCESS_READ && operand->kind <= ACCESS_RMW &&
	       operand->base <= X86_REG_NONE &&
	       operand->index <= X86_REG_NONE &&
	       operand->bit_reg <= X86_REG_NONE && operand->scale <= 8 &&
	       operand->segment <= X86_SEG_GS && operand->size >= 1 &&
	       operand->size <= X86_ACCESS_MAX &&
	       sound_flag(&operand->addr32) && sound_flag(&operand->string) &&
	       sound_flag(&operand->stack);
}

static bool sound_insn(const struct insn_access *insn)
{
	if (insn->length < 1 || insn->length > X86_INSN_MAX ||
	    insn->operand_count > X86_OPERANDS_MAX || insn->rep > X86_REPNE ||
	    insn->flow > X86_FLOW_STOP || insn->refusal >= X86_REFUSALS ||
	    !sound_flag(&insn->synchronizes) || !sound_flag(&insn->vector) ||
	    !sound_flag(&insn->indirect))
		return false;
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		if (!sound_operand(&insn->operands[i]))
			return false;
	}
	return true;
}

bool wire_site_is_sound(const struct wire_site *site)
{
	return sound_range(site->address, site->address + X86_INSN_MAX) &&
	       sound_flag(&site->seldom) && sound_flag(&site->once) &&
	       sound_flag(&site->runs) && sound_flag(&site->hunt) &&
	       site->provoke <= PROVOKE_SIDES &&
	       site->record <= WIRE_RECORD_JOIN && site->bytes[0] != X86_INT3 &&
	       sound_insn(&site->insn);
}

static bool sound_sites(const void *payload, size_t size)
{
	const struct wire_site *sites = payload;

	for (size_t i = 0; i < size / sizeof(*sites); i++) {
		if (!wire_site_is_sound(&sites[i]))
			return false;
	}
	return size % sizeof(*sites) == 0;
}

/* Of one program. */
static bool sound_record(const void *payload, size_t size)
{
	const struct wire_site *sites = payload;

	if (size == 0 || !sound_sites(payload, size))
		return false;
	for (size_t i = 1; i < size / sizeof(*sites); i++) {
		if (sites[i].program != sites[0].program)
			return false;
	}
	return true;
}

static bool sound_supply(const void *payload, size_t size)
{
	(void)payload;
	return size == sizeof(struct wire_supply);
}

static bool sound_forget(const void *payload, size_t size)
{
	const struct wire_range *range = payload;

	return size == sizeof(*range) && sound_range(range->start, range->end);
}

/* Where each begins behind the end of the one before. */
static bool sound_shared(const void *payload, size_t size)
{
	const struct wire_shared_head *head = payload;
	const struct wire_shared *shared = (const void *)(head + 1);
	uint64_t end = 0;

	if (size < sizeof(*head) ||
	    (size - sizeof(*head)) != head->count * sizeof(*shared))
		return false;
	for (uint32_t i = 0; i < head->count; i++) {
		if (shared[i].start < end ||
		    !sound_range(shared[i].start, shared[i].end))
			return false;
		end = shared[i].end;
	}
	return head->pid > 0;
}

/*
 * What asks a program to end, ends it, or lets it go on: not those that would look
 * like a fault of its own, that stop it, or that its C library keeps for itself.
 */
static bool sound_signal(const void *payload, size_t size)
{
	const struct wire_signal *message = payload;

	if (size != sizeof(*message))
		return false;
	switch (message->signal) {
	case SIGINT:
	case SIGQUIT:
	case SIGTERM:
	case SIGHUP:
	case SIGUSR1:
	case SIGUSR2:
	case SIGALRM:
	case SIGSTKFLT:
	case SIGXCPU:
	case SIGVTALRM:
	case SIGPROF:
	case SIGIO:
	case SIGPWR:
	case SIGCONT:
	case SIGKILL:
		return true;
	default:
		return message->signal >= SIGRTMIN &&
		       message->signal <= SIGRTMAX;
	}
}

static bool sound_stop(const void *payload, size_t size)
{
	(void)payload;
	return size == 0;
}

static bool sound_judged(const void *payload, size_t size)
{
	const struct wire_judged *judged = payload;

	return size == sizeof(*judged) && sound_flag(&judged->stop);
}

static bool sound_startup(const void *payload, size_t size)
{
	(void)payload;
	return size == sizeof(struct wire_startup);
}

static bool sound_replay(const void *payload, size_t size)
{
	const struct wire_replay *replay = payload;

	return size == sizeof(*replay) && replay->count <= WIRE_HINTS_MAX &&
	       sound_flag(&replay->enough) && sound_flag(&replay->counts) &&
	       sound_flag(&replay->still);
}

static bool sound_others(const struct wire_hunt *hunt)
{
	for (uint32_t i = 0; i < hunt->other_count; i++) {
		if (hunt->others[i].length > WIRE_PATH_MAX)
			return false;
	}
	return true;
}

static bool sound_partners(const struct wire_hunt *hunt)
{
	for (uint32_t i = 0; i < hunt->partner_count; i++) {
		if (!wire_site_is_sound(&hunt->partners[i]) ||
		    hunt->partners[i].program != hunt->site.program)
			return false;
	}
	return true;
}

static bool sound_hunt(const void *payload, size_t size)
{
	const struct wire_hunt *hunt = payload;

	return size == sizeof(*hunt) && hunt->side < WIRE_HUNT_SIDES &&
	       sound_flag(&hunt->any) && sound_flag(&hunt->by_text) &&
	       sound_flag(&hunt->until_all) && sound_flag(&hunt->unlisted) &&
	       hunt->path_length <= WIRE_PATH_MAX &&
	       hunt->stack_count <= WIRE_HUNT_STACK &&
	       hunt->partner_count <= WIRE_HUNT_PARTNERS &&
	       hunt->other_count <= WIRE_HUNT_OTHERS &&
	       hunt->early_count <= hunt->partner_count && sound_others(hunt) &&
	       wire_site_is_sound(&hunt->site) && sound_partners(hunt);
}

typedef bool sound_check(const void *payload, size_t size);

static sound_check *const sound_checks[] = {
	[WIRE_SITES] = sound_sites,   [WIRE_SUPPLY] = sound_supply,
	[WIRE_FORGET] = sound_forget, [WIRE_SHARED] = sound_shared,
	[WIRE_SIGNAL] = sound_signal, [WIRE_STOP] = sound_stop,
	[WIRE_JUDGED] = sound_judged, [WIRE_STARTUP_SENT] = sound_startup,
	[WIRE_REPLAY] = sound_replay, [WIRE_HUNT] = sound_hunt,
	[WIRE_RECORD] = sound_record,
};

enum { SOUND_CHECKS = sizeof(sound_checks) / sizeof(sound_checks[0]) };

bool wire_is_sound(enum wire_type type, const void *payload, size_t size)
{
	return (size_t)type < SOUND_CHECKS && sound_checks[type] &&
	       sound_checks[type](payload, size);
}
