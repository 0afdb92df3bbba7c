/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decoder against Zydis over the whole executable text of large
 * libraries: length, flow, target, synchronization, and every memory operand's
 * direction, size and address, with no difference that is not in the table
 * `explained` below with its reason. A linear sweep, stepping by Zydis's
 * lengths.
 *
 *	test_zydis [-v] [FILE...]
 *
 * Without files: libc, libstdc++ and libcrypto; with RACEWATCH_TEST_LONG set
 * the largest libraries found as well. -v prints each explained class.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "base/clock.h"
#include "base/error.h"
#include "refusal-name.h"
#include "x86/decode.h"

/* In what the two decoders may differ. */
enum difference {
	DIFF_NONE,
	DIFF_ACCEPT, /* we decode what Zydis does not */
	DIFF_REJECT, /* the other way round */
	DIFF_LENGTH,
	DIFF_REFUSED, /* we refuse, and Zydis's class does not say why */
	DIFF_COUNT, /* number of memory operands */
	DIFF_KIND,
	DIFF_SIZE,
	DIFF_ADDRESS,
	DIFF_FLOW,
	DIFF_TARGET,
	DIFF_SYNC,
	DIFF_REP,
	DIFFERENCES,
};

static const char *const difference_names[DIFFERENCES] = {
	"none", "accept",  "reject", "length", "refused", "count", "kind",
	"size", "address", "flow",   "target", "sync",	  "rep",
};

enum { EXAMPLES_MAX = 400 };

/* One class of differences met. */
struct finding {
	enum difference difference;
	ZydisMnemonic mnemonic;
	uint8_t refusal;
	const char *reason; /* NULL: unexplained */
	uint64_t count;
	uint64_t address;
	uint8_t bytes[X86_INSN_MAX];
	struct insn_access ours;
};

struct tally {
	uint64_t instructions;
	uint64_t accesses;
	uint64_t unexplained;
	uint64_t refused[X86_REFUSALS];
	struct finding findings[EXAMPLES_MAX];
	int finding_count;
};

struct oracle {
	ZydisDecoder zydis;
	struct decoder *decoder;
	struct tally tally;
};

/* What Zydis says of one instruction. */
struct expected {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *memory[4];
	int memory_count;
};

#include "test_zydis_explained.h"

static const char *why_explained(enum difference difference,
				 const struct expected *expected,
				 const struct insn_access *ours)
{
	for (size_t i = 0; i < sizeof(explained) / sizeof(explained[0]); i++) {
		const struct explanation *known = &explained[i];

		if (known->difference == difference && expected &&
		    known->covers(expected, ours))
			return known->reason;
	}
	return NULL;
}

static void note(struct oracle *oracle, enum difference difference,
		 const struct expected *expected,
		 const struct insn_access *ours, const uint8_t *bytes,
		 size_t size, uint64_t address)
{
	struct tally *tally = &oracle->tally;
	ZydisMnemonic mnemonic = expected ? expected->insn.mnemonic
					  : ZYDIS_MNEMONIC_INVALID;
	struct finding *finding = tally->findings;
	const char *reason = why_explained(difference, expected, ours);
	int i;

	for (i = 0; i < tally->finding_count; i++, finding++) {
		if (finding->difference == difference &&
		    finding->mnemonic == mnemonic &&
		    finding->refusal == ours->refusal &&
		    finding->reason == reason) {
			finding->count++;
			tally->unexplained += !reason;
			return;
		}
	}
	tally->unexplained += !reason;
	if (i == EXAMPLES_MAX)
		return;
	tally->finding_count++;
	finding->difference = difference;
	finding->mnemonic = mnemonic;
	finding->refusal = ours->refusal;
	finding->reason = reason;
	finding->count = 1;
	finding->address = address;
	finding->ours = *ours;
	memset(finding->bytes, 0, X86_INSN_MAX);
	memcpy(finding->bytes, bytes,
	       size < X86_INSN_MAX ? size : X86_INSN_MAX);
}

static uint8_t expected_kind(const ZydisDecodedOperand *operand)
{
	uint8_t kind = ACCESS_NONE;

	if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
		kind |= ACCESS_READ;
	if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
		kind |= ACCESS_WRITE;
	return kind;
}

static uint8_t expected_register(ZydisRegister reg)
{
	ZyanI8 id;

	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return X86_RIP;
	id = ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, reg));
	return reg == ZYDIS_REGISTER_NONE || id < 0 ? X86_REG_NONE
						    : (uint8_t)id;
}

static bool same_address(const struct expected *expected,
			 const ZydisDecodedOperand *theirs,
			 const struct mem_operand *ours)
{
	const ZydisDecodedOperandMem *mem = &theirs->mem;
	uint8_t index = expected_register(mem->index);
	int64_t disp = mem->disp.has_displacement ? mem->disp.value : 0;
	uint8_t segment = X86_SEG_NONE;

	if (mem->segment == ZYDIS_REGISTER_FS)
		segment = X86_SEG_FS;
	else if (mem->segment == ZYDIS_REGISTER_GS)
		segment = X86_SEG_GS;
	if (ours->stack)
		return expected_register(mem->base) == ours->base;
	return expected_register(mem->base) == ours->base &&
	       index == ours->index &&
	       (index == X86_REG_NONE || mem->scale == ours->scale) &&
	       (ours->addr32 ? (uint32_t)disp == (uint32_t)ours->disp
			     : disp == ours->disp) &&
	       segment == ours->segment &&
	       ours->addr32 == (expected->insn.address_width == 32);
}

/* Is it the implicit slot of a push or pop? */
static bool is_stack_slot(const struct expected *expected,
			  const ZydisDecodedOperand *operand)
{
	return operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       (operand->mem.base == ZYDIS_REGISTER_RSP ||
		(operand->mem.base == ZYDIS_REGISTER_RBP &&
		 expected->insn.mnemonic == ZYDIS_MNEMONIC_LEAVE));
}

static enum difference compare_operand(const struct expected *expected,
				       const ZydisDecodedOperand *theirs,
				       const struct mem_operand *ours)
{
	if (ours->stack != is_stack_slot(expected, theirs))
		return DIFF_COUNT;
	if (expected_kind(theirs) != ours->kind)
		return DIFF_KIND;
	if (theirs->size != ours->size * 8u)
		return DIFF_SIZE;
	if (!same_address(expected, theirs, ours))
		return DIFF_ADDRESS;
	return DIFF_NONE;
}

/* The operands in either order: string instructions name them as they like. */
static enum difference compare_operands(const struct expected *expected,
					const struct insn_access *ours)
{
	enum difference straight = DIFF_NONE;
	enum difference crossed = DIFF_NONE;

	if (ours->operand_count != expected->memory_count)
		return DIFF_COUNT;
	for (int i = 0; i < ours->operand_count; i++) {
		int other = ours->operand_count - 1 - i;

		if (straight == DIFF_NONE)
			straight = compare_operand(expected,
						   expected->memory[i],
						   &ours->operands[i]);
		if (crossed == DIFF_NONE)
			crossed = compare_operand(expected,
						  expected->memory[other],
						  &ours->operands[i]);
	}
	return crossed == DIFF_NONE ? DIFF_NONE : straight;
}

static uint8_t expected_flow(const ZydisDecodedInstruction *insn)
{
	switch ((unsigned int)insn->mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return X86_FLOW_STOP;
	/* a transaction's abort goes back, wherever it comes from */
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XABORT:
		return X86_FLOW_NEXT;
	default:
		break;
	}
	switch ((unsigned int)insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return X86_FLOW_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return X86_FLOW_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return X86_FLOW_CALL;
	case ZYDIS_CATEGORY_RET:
		return X86_FLOW_RET;
	default:
		return X86_FLOW_NEXT;
	}
}

static bool expected_sync(const struct expected *expected)
{
	return (expected->insn.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ||
	       (expected->insn.mnemonic == ZYDIS_MNEMONIC_XCHG &&
		expected->memory_count != 0);
}

static uint8_t expected_rep(const ZydisDecodedInstruction *insn)
{
	if ((insn->attributes & ZYDIS_ATTRIB_HAS_REP) != 0)
		return X86_REP;
	if ((insn->attributes & ZYDIS_ATTRIB_HAS_REPE) != 0)
		return X86_REPE;
	if ((insn->attributes & ZYDIS_ATTRIB_HAS_REPNE) != 0)
		return X86_REPNE;
	return X86_REP_NONE;
}

static uint64_t expected_target(const struct expected *expected,
				uint64_t address)
{
	uint64_t target = 0;

	for (int i = 0; i < expected->insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &expected->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    operand->imm.is_relative)
			ZydisCalcAbsoluteAddress(&expected->insn, operand,
						 address, &target);
	}
	return expected->insn.mnemonic == ZYDIS_MNEMONIC_XBEGIN ? 0 : target;
}

/* The memory operands that are accesses. */
static void collect_memory(struct expected *expected)
{
	expected->memory_count = 0;
	for (int i = 0; i < expected->insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &expected->operands[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    expected_kind(operand) == ACCESS_NONE ||
		    is_address_only(&expected->insn))
			continue;
		if (expected->memory_count < 4)
			expected->memory[expected->memory_count++] = operand;
	}
}

static enum difference compare(const struct expected *expected,
			       const struct insn_access *ours, uint64_t address)
{
	enum difference difference;

	if (ours->length != expected->insn.length)
		return DIFF_LENGTH;
	if (ours->refusal == X86_REFUSED_UNDECODABLE)
		return DIFF_REJECT;
	if (ours->flow != expected_flow(&expected->insn))
		return DIFF_FLOW;
	if (ours->target != expected_target(expected, address))
		return DIFF_TARGET;
	if (ours->refusal != X86_OK)
		return is_refused_class(expected, ours->refusal) ? DIFF_NONE
								 : DIFF_REFUSED;
	if (ours->synchronizes != expected_sync(expected))
		return DIFF_SYNC;
	difference = compare_operands(expected, ours);
	if (difference != DIFF_NONE)
		return difference;
	if (ours->rep != expected_rep(&expected->insn) &&
	    ours->operand_count != 0 && ours->operands[0].string)
		return DIFF_REP;
	return DIFF_NONE;
}

/* Compare at one place; how far to go on. */
static size_t step(struct oracle *oracle, const uint8_t *bytes, size_t size,
		   uint64_t address, bool valid_only)
{
	struct expected expected;
	struct insn_access ours;
	enum difference difference;

	decoder_decode(oracle->decoder, bytes, size, address, &ours);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&oracle->zydis, bytes, size,
						 &expected.insn,
						 expected.operands))) {
		if (ours.refusal != X86_REFUSED_UNDECODABLE && !valid_only)
			note(oracle, DIFF_ACCEPT, NULL, &ours, bytes, size,
			     address);
		return 1;
	}
	collect_memory(&expected);
	oracle->tally.instructions++;
	oracle->tally.accesses += ours.operand_count;
	if (ours.refusal != X86_OK && ours.refusal < X86_REFUSALS)
		oracle->tally.refused[ours.refusal]++;
	difference = compare(&expected, &ours, address);
	if (difference != DIFF_NONE)
		note(oracle, difference, &expected, &ours, bytes, size,
		     address);
	return expected.insn.length;
}

static void print_finding(struct oracle *oracle, const struct finding *finding)
{
	char text[160];

	decoder_text(oracle->decoder, finding->bytes, X86_INSN_MAX,
		     finding->address, text, sizeof(text));
	printf("# %s: %s of %s, %llu times, first at 0x%llx:",
	       finding->reason ? "explained" : "UNEXPLAINED",
	       difference_names[finding->difference],
	       finding->mnemonic == ZYDIS_MNEMONIC_INVALID
		       ? "(bad)"
		       : ZydisMnemonicGetString(finding->mnemonic),
	       (unsigned long long)finding->count,
	       (unsigned long long)finding->address);
	for (int i = 0; i < X86_INSN_MAX; i++)
		printf(" %02x", finding->bytes[i]);
	printf(" %s; ours: length %d, %d operands, kind %d, size %d, %s\n",
	       text, finding->ours.length, finding->ours.operand_count,
	       finding->ours.operands[0].kind, finding->ours.operands[0].size,
	       refusal_name(finding->ours.refusal));
	if (finding->reason)
		printf("#   %s\n", finding->reason);
}

static void print_findings(struct oracle *oracle, bool verbose)
{
	for (int i = 0; i < oracle->tally.finding_count; i++) {
		struct finding *finding = &oracle->tally.findings[i];

		if (!finding->reason || verbose)
			print_finding(oracle, finding);
	}
}

static void sweep_section(struct oracle *oracle, const uint8_t *bytes,
			  size_t size, uint64_t address)
{
	size_t at = 0;

	while (at < size)
		at += step(oracle, bytes + at, size - at, address + at, false);
}

/* Every executable section of a mapped ELF file. */
static bool sweep_elf(struct oracle *oracle, const uint8_t *file, size_t size)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)(const void *)file;
	const Elf64_Shdr *shdr;

	if (size < sizeof(*ehdr) || memcmp(file, ELFMAG, SELFMAG) != 0 ||
	    ehdr->e_machine != EM_X86_64 || ehdr->e_shoff > size ||
	    ehdr->e_shnum > (size - ehdr->e_shoff) / sizeof(*shdr))
		return false;
	shdr = (const Elf64_Shdr *)(const void *)(file + ehdr->e_shoff);
	for (int i = 0; i < ehdr->e_shnum; i++) {
		const Elf64_Shdr *section = &shdr[i];

		if (section->sh_type == SHT_PROGBITS &&
		    (section->sh_flags & SHF_EXECINSTR) != 0 &&
		    section->sh_offset + section->sh_size <= size)
			sweep_section(oracle, file + section->sh_offset,
				      section->sh_size, section->sh_addr);
	}
	return true;
}

static bool sweep_file(struct oracle *oracle, const char *path)
{
	struct stat st;
	bool good = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
			   0);
		if (map != MAP_FAILED) {
			good = sweep_elf(oracle, map, (size_t)st.st_size);
			munmap(map, (size_t)st.st_size);
		}
	}
	close(fd);
	return good;
}

/* How often each explanation was needed. */
static void print_explanations(const struct tally *tally)
{
	for (size_t i = 0; i < sizeof(explained) / sizeof(explained[0]); i++) {
		uint64_t count = 0;

		for (int j = 0; j < tally->finding_count; j++) {
			if (tally->findings[j].reason == explained[i].reason)
				count += tally->findings[j].count;
		}
		if (count != 0)
			printf("# explained: %llu, %s\n",
			       (unsigned long long)count, explained[i].reason);
	}
}

/* One TAP line for what was tallied; true if all is well. */
static bool report(struct oracle *oracle, int number, const char *what,
		   bool verbose)
{
	struct tally *tally = &oracle->tally;
	/* a sweep over nothing proves nothing */
	bool good = tally->unexplained == 0 && tally->accesses > 1000;

	print_findings(oracle, verbose);
	print_explanations(tally);
	for (int i = X86_OK + 1; i < X86_REFUSALS; i++) {
		if (tally->refused[i] != 0)
			printf("# refused %s: %llu\n",
			       refusal_name((enum x86_refusal)i),
			       (unsigned long long)tally->refused[i]);
	}
	printf("%s %d - %s: %llu instructions, %llu operands, "
	       "%llu unexplained differences\n",
	       good ? "ok" : "not ok", number, what,
	       (unsigned long long)tally->instructions,
	       (unsigned long long)tally->accesses,
	       (unsigned long long)tally->unexplained);
	fflush(stdout);
	return good;
}

static bool check_file(struct oracle *oracle, int number, const char *path,
		       bool verbose)
{
	uint64_t begin = clock_now_ns();
	bool good;

	memset(&oracle->tally, 0, sizeof(oracle->tally));
	good = sweep_file(oracle, path);
	good &= report(oracle, number, path, verbose);
	printf("# %.1f s\n", (double)(clock_now_ns() - begin) / 1e9);
	return good;
}

/*
 * Every opcode of every map with every mandatory prefix, W, vector length and
 * ModRM reg field, on memory and on registers. Only what Zydis knows counts:
 * that we take more for an instruction than there is does no harm here.
 */
static void try_encoding(struct oracle *oracle, uint8_t *bytes, size_t at)
{
	static const uint8_t tails[2][6] = {
		{ 0x44, 0x8b, 0x11, 0x22, 0x33, 0x01 },
		{ 0xc1, 0x22, 0x33, 0x44, 0x01, 0x02 },
	};

	for (int tail = 0; tail < 2; tail++) {
		for (int reg = 0; reg < 8; reg++) {
			memcpy(bytes + at, tails[tail], 6);
			bytes[at] |= (uint8_t)(reg << 3);
			step(oracle, bytes, X86_INSN_MAX, 0x401000, true);
		}
	}
}

/* Register forms where the rm field chooses the instruction. */
static void try_register_forms(struct oracle *oracle, uint8_t *bytes, size_t at)
{
	for (int modrm = 0xc0; modrm <= 0xff; modrm++) {
		bytes[at] = (uint8_t)modrm;
		step(oracle, bytes, X86_INSN_MAX, 0x401000, true);
	}
}

static void try_legacy(struct oracle *oracle, int map, int prefix, int wide)
{
	static const uint8_t prefixes[4] = { 0, 0x66, 0xf3, 0xf2 };

	for (int opcode = 0; opcode < 256; opcode++) {
		uint8_t bytes[X86_INSN_MAX + 6] = { 0 };
		size_t at = 0;

		if (prefix != 0)
			bytes[at++] = prefixes[prefix];
		bytes[at++] = wide ? 0x48 : 0x40;
		if (map != 0)
			bytes[at++] = 0x0f;
		if (map >= 2)
			bytes[at++] = map == 2 ? 0x38 : 0x3a;
		bytes[at++] = (uint8_t)opcode;
		try_encoding(oracle, bytes, at);
		try_register_forms(oracle, bytes, at);
	}
}

/* AMD's XOP: like VEX, with maps 8 to 10. */
static void try_xop(struct oracle *oracle, int map, int wide)
{
	for (int opcode = 0; opcode < 256; opcode++) {
		for (int other = 0; other < 4; other++) {
			uint8_t bytes[X86_INSN_MAX + 6] = { 0x8f };
			int operand = (other & 1) != 0 ? 0x78 : 0x40;
			int length = (other & 2) << 1;

			bytes[1] = (uint8_t)(0xe0 | map);
			bytes[2] = (uint8_t)(wide << 7 | operand | length);
			bytes[3] = (uint8_t)opcode;
			try_encoding(oracle, bytes, 4);
		}
	}
}

static void try_vex(struct oracle *oracle, int map, int prefix, int wide)
{
	for (int opcode = 0; opcode < 256; opcode++) {
		/* vvvv both in use and not: some instructions need either */
		for (int other = 0; other < 4; other++) {
			uint8_t bytes[X86_INSN_MAX + 6] = { 0xc4 };
			int operand = (other & 1) != 0 ? 0x78 : 0x40;
			int length = (other & 2) << 1;

			bytes[1] = (uint8_t)(0xe0 | map);
			bytes[2] = (uint8_t)(wide << 7 | operand | length |
					     prefix);
			bytes[3] = (uint8_t)opcode;
			try_encoding(oracle, bytes, 4);
		}
	}
}

static void try_evex(struct oracle *oracle, int map, int prefix, int wide)
{
	for (int opcode = 0; opcode < 256; opcode++) {
		for (int other = 0; other < 32; other++) {
			uint8_t bytes[X86_INSN_MAX + 6] = { 0x62 };
			int operand = (other & 1) != 0 ? 0x78 : 0x40;
			int length = (other >> 1) & 3;
			int broadcast = (other >> 3) & 1;
			int mask = (other >> 4) & 1;

			bytes[1] = (uint8_t)(0xf0 | map);
			bytes[2] = (uint8_t)(wide << 7 | operand | 4 | prefix);
			bytes[3] = (uint8_t)(length << 5 | broadcast << 4 | 8 |
					     mask);
			bytes[4] = (uint8_t)opcode;
			try_encoding(oracle, bytes, 5);
		}
	}
}

static bool check_encodings(struct oracle *oracle, int number, bool verbose)
{
	memset(&oracle->tally, 0, sizeof(oracle->tally));
	for (int other = 0; other < 8; other++) {
		for (int map = 0; map < 4; map++)
			try_legacy(oracle, map, other >> 1, other & 1);
		for (int map = 8; map <= 10; map++)
			try_xop(oracle, map, other & 1);
		for (int map = 1; map < 4; map++)
			try_vex(oracle, map, other >> 1, other & 1);
		for (int map = 1; map < 7; map++)
			try_evex(oracle, map, other >> 1, other & 1);
	}
	return report(oracle, number, "every encoding", verbose);
}

static const char *const usual_files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
};

/* Those of these that exist are swept by the long run; one has to. */
static const char *const large_files[] = {
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1",
	"/usr/lib/x86_64-linux-gnu/libclang-14.so.1",
	"/usr/lib/x86_64-linux-gnu/libx265.so.199",
	"/usr/lib/x86_64-linux-gnu/libSvtAv1Enc.so.1",
	"/usr/lib/x86_64-linux-gnu/libaom.so.3",
	"/usr/lib/x86_64-linux-gnu/libz3.so.4",
	"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
};

int main(int argc, char **argv)
{
	static struct oracle oracle;
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	int first = verbose ? 2 : 1;
	bool good = true;
	int number = 0;
	size_t large = 0;
	struct error *err = decoder_create(&oracle.decoder);

	if (err) {
		printf("Bail out! %s\n", error_message(err));
		error_free(err);
		return 99;
	}
	ZydisDecoderInit(&oracle.zydis, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	for (int i = first; i < argc; i++)
		good &= check_file(&oracle, ++number, argv[i], verbose);
	if (first == argc)
		good &= check_encodings(&oracle, ++number, verbose);
	for (size_t i = 0; first == argc && i < 3; i++)
		good &= check_file(&oracle, ++number, usual_files[i], verbose);
	for (size_t i = 0; first == argc && getenv("RACEWATCH_TEST_LONG") &&
			   i < sizeof(large_files) / sizeof(large_files[0]);
	     i++) {
		if (access(large_files[i], R_OK) != 0)
			continue;
		large++;
		good &= check_file(&oracle, ++number, large_files[i], verbose);
	}
	if (first == argc && getenv("RACEWATCH_TEST_LONG")) {
		printf("%s %d - a large library was found\n",
		       large ? "ok" : "not ok", ++number);
		good &= large != 0;
	}
	printf("1..%d\n", number);
	decoder_destroy(oracle.decoder);
	return good ? 0 : 1;
}
