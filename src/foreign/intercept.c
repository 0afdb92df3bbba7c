/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What detectors intercept; see intercept.h. */
#include "foreign/intercept.h"

#include <string.h>

#include "base/vec.h"
#include "report/frame.h"

/* Sources of the detectors, by what their names have in them. */
static const char *const sources[] = {
	"vg_replace_", "hg_intercepts.c", "drd_pthread_",
	"drd_qtcore_", "libsanitizer/",	  "compiler-rt/",
	NULL
};

static const char *const modules[] = { "libtsan",      "vgpreload_",
				       "libclang_rt.", "libc.",
				       "libc-",	       "libpthread",
				       "libstdc++.",   NULL };

/*
 * clang's runtime is a part of the program, and its functions have no lines. So
 * are those of a program that is linked statically.
 */
static const char *const functions[] = { "malloc",
					 "calloc",
					 "realloc",
					 "free",
					 "memcpy",
					 "memmove",
					 "memset",
					 "memcmp",
					 "memchr",
					 "strlen",
					 "strcpy",
					 "strncpy",
					 "strcmp",
					 "strncmp",
					 "strcat",
					 "strchr",
					 "strrchr",
					 "strdup",
					 "strstr",
					 "strncat",
					 "read",
					 "write",
					 "pread",
					 "pwrite",
					 "recv",
					 "send",
					 "operator new",
					 "operator delete",
					 "bcmp",
					 "operator new[]",
					 "operator delete[]",
					 "posix_memalign",
					 "strnlen",
					 "fread",
					 "fwrite",
					 "printf",
					 "puts",
					 "memrchr",
					 "aligned_alloc",
					 NULL };

static bool is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++) {
		if (strcmp(text, *list) == 0)
			return true;
	}
	return false;
}

static bool has_one_of(const char *text, const char *const *list)
{
	for (; *list; list++) {
		if (strstr(text, *list))
			return true;
	}
	return false;
}

static const char *plain_name(const char *function)
{
	static const char *const before[] = { "__interceptor_", "__tsan_",
					      "___interceptor_" };

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		size_t length = strlen(before[i]);

		if (strncmp(function, before[i], length) == 0)
			return function + length;
	}
	return function;
}

bool intercept_is(const struct race_frame *frame)
{
	if (frame->file && has_one_of(frame->file, sources))
		return true;
	if (frame->module && race_frame_is_in(frame, modules))
		return true;
	return !frame->file && frame->function &&
	       is_one_of(plain_name(frame->function), functions);
}

size_t intercept_skip(const struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		if (!intercept_is(vec_at(frames, i)))
			return i;
	}
	return 0;
}

const struct race_frame *intercept_caller(const struct vec *frames)
{
	size_t i = intercept_skip(frames);

	return i < frames->count && !intercept_is(vec_at(frames, i))
		       ? vec_at(frames, i)
		       : NULL;
}
