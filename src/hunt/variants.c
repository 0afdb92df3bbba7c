/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tunables of glibc; see variants.h. Names that a version of glibc does not know
 * are ignored by it: those with _Usable are of versions before 2.33.
 */
#include "hunt/variants.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"

static const char VARIABLE[] = "GLIBC_TUNABLES";
static const char HWCAPS[] = "glibc.cpu.hwcaps=";
static const char THRESHOLD[] = "glibc.cpu.x86_non_temporal_threshold=";

/* What the choice of a variant depends on (glibc, sysdeps/x86_64/multiarch). */
static const char LESS[] =
	"-SSE3,-SSSE3,-SSE4_1,-SSE4_2,-POPCNT,-LZCNT,-MOVBE,-BMI1,-BMI2,"
	"-AVX,-AVX_Usable,-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,"
	"-FMA4_Usable,-AVX512F,-AVX512F_Usable,-AVX512VL,-AVX512BW,-AVX512DQ,"
	"-AVX512CD,-AVX512ER,-AVX512PF,-ERMS,-FSRM,-RTM,-Fast_Rep_String,"
	"-Fast_Copy_Backward,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,"
	"-AVX_Fast_Unaligned_Load,-Prefer_PMINUB_for_stringop,-Prefer_ERMS,"
	"-Prefer_FSRM,-Prefer_No_AVX512_Probing,-Prefer_No_VZEROUPPER,"
	"-Slow_BSF,-Slow_SSE4_2";
/* Bytes; else it is computed from the sizes of the processor's caches. */
static const char BYTES[] = "0xc0000";

static bool is_of(const char *tunable, const char *name)
{
	return strncmp(tunable, name, strlen(name)) == 0;
}

char *variants_tunables(const char *given)
{
	struct strbuf text = { 0 };
	bool hwcaps = false, threshold = false;

	while (given && *given) {
		size_t length = strcspn(given, ":");

		strbuf_add_bytes(&text, given, length);
		if (is_of(given, HWCAPS)) {
			strbuf_addf(&text, ",%s", LESS);
			hwcaps = true;
		}
		threshold |= is_of(given, THRESHOLD);
		strbuf_add(&text, ":");
		given += length + (given[length] == ':');
	}
	if (!hwcaps)
		strbuf_addf(&text, "%s%s:", HWCAPS, LESS);
	if (!threshold)
		strbuf_addf(&text, "%s%s:", THRESHOLD, BYTES);
	if (!text.failed)
		strbuf_truncate(&text, text.length - 1);
	return strbuf_steal(&text);
}

struct error *variants_choose(void)
{
	char *value = variants_tunables(getenv(VARIABLE));
	struct error *err = NULL;

	if (!value)
		return error_nomem;
	if (setenv(VARIABLE, value, 1) != 0)
		err = error_os(errno, "set %s", VARIABLE);
	free(value);
	return err;
}
