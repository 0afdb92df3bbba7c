/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names and code patterns of Go; see golang.h.
 */
#include "sampling/golang.h"

#include <string.h>

/* Where Go's runtime and its locks are; in Go, '/' is in no other names. */
static const char *const packages[] = {
	"runtime.",
	"runtime/",
	"internal/runtime/",
	"sync.",
	"sync/atomic.",
	"internal/sync.",
	"internal/poll.(*fd",
	"internal/poll.runtime_",
	"gosave_systemstack_switch",
};

/* What of package runtime works for the program, as mem* and str* of libc. */
static const char *const workers[] = {
	"map",	      "(*hmap)",    "(*bmap)",	     "growWork",
	"evacuate",   "hashGrow",   "mem",	     "typedmem",
	"typedslice", "slice",	    "growslice",     "makeslice",
	"concat",     "string",	    "intstring",     "rawstring",
	"rawbyte",    "cmpstring",  "strequal",	     "efaceeq",
	"ifaceeq",    "interequal", "nilinterequal", "convT",
	"decoderune", "countrunes", "reflectcall",   "reflect_typed",
};

static bool begins(const char *name, const char *prefix)
{
	/* most names do not even have the first letter */
	return *name == *prefix && strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool begins_with_one(const char *name, const char *const *prefixes,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (begins(name, prefixes[i]))
			return true;
	}
	return false;
}

/* "sync.part.0": a compiler's piece or copy of a C function called sync(). */
static bool is_piece(const char *name)
{
	static const char *const suffixes[] = {
		"part.", "constprop.", "isra.", "cold", "lto_priv.", "llvm."
	};
	const char *dot = strchr(name, '.');

	return dot && ((dot[1] >= '0' && dot[1] <= '9') ||
		       begins_with_one(dot + 1, suffixes,
				       sizeof(suffixes) / sizeof(suffixes[0])));
}

bool go_runtime_name(const char *name)
{
	static const char runtime[] = "runtime.";

	if (!name ||
	    !begins_with_one(name, packages,
			     sizeof(packages) / sizeof(packages[0])) ||
	    is_piece(name))
		return false;
	return !begins(name, runtime) ||
	       !begins_with_one(name + strlen(runtime), workers,
				sizeof(workers) / sizeof(workers[0]));
}

/* The length of "testb %al, (register)", or 0. */
static size_t test_length(const uint8_t *bytes, size_t size)
{
	size_t at = size > 0 && (bytes[0] & 0xfe) == 0x40; /* REX, REX.B */
	uint8_t modrm;

	if (size < at + 3 || bytes[at] != 0x84)
		return 0;
	modrm = bytes[at + 1];
	if (modrm >= 8 || modrm == 5) /* not a plain register, or not al */
		return 0;
	if (modrm == 4) /* rsp and r12 need another byte */
		return bytes[at + 2] == 0x24 ? at + 3 : 0;
	return at + 2;
}

/* Jumps, sets or moves on a condition, or works with the carry. */
static bool uses_flags(const uint8_t *bytes, size_t size)
{
	if (size > 0 && (bytes[0] & 0xf0) == 0x40) { /* REX */
		bytes++;
		size--;
	}
	if (size < 2)
		return size == 1 && bytes[0] != 0xc3;
	if (bytes[0] == 0x0f)
		return (bytes[1] & 0xf0) == 0x40 || (bytes[1] & 0xe0) == 0x80;
	return (bytes[0] & 0xf0) == 0x70 || (bytes[0] & 0xe8) == 0x08 ||
	       bytes[0] == 0x9c || bytes[0] == 0x9f;
}

bool go_nil_check(const uint8_t *bytes, size_t size)
{
	size_t length = test_length(bytes, size);

	return length && !uses_flags(bytes + length, size - length);
}

static bool bytes_are(const uint8_t *bytes, size_t size, size_t at,
		      const uint8_t *pattern, size_t length)
{
	return at <= size && size - at >= length &&
	       memcmp(bytes + at, pattern, length) == 0;
}

bool go_stack_check(const uint8_t *bytes, size_t size, size_t at)
{
	static const uint8_t with_rsp[] = { 0x49, 0x3b, 0x66, 0x10 };
	static const uint8_t with_r12[] = { 0x4d, 0x3b, 0x66, 0x10 };
	static const uint8_t near[] = { 0x4c, 0x8d, 0x64, 0x24 };
	static const uint8_t far[] = { 0x4c, 0x8d, 0xa4, 0x24 };

	if (bytes_are(bytes, size, at, with_rsp, sizeof(with_rsp)))
		return true;
	return bytes_are(bytes, size, at, with_r12, sizeof(with_r12)) &&
	       ((at >= 5 &&
		 bytes_are(bytes, size, at - 5, near, sizeof(near))) ||
		(at >= 8 && bytes_are(bytes, size, at - 8, far, sizeof(far))));
}
