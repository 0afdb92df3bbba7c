/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For clang-tidy only, which reads one source at a time and does not know
 * returns_nonnull: what makes or wraps an error never gives NULL. Without this
 * it follows paths that go on after a failure. And what the makefile defines.
 */
#ifndef LINT_TIDY_H
#define LINT_TIDY_H

#include "base/error.h"

#define PKGDATADIR "/usr/share/racewatch"
#define QEMUPLUGINDIR "/usr/libexec/racewatch/qemu"
#define RECORDERDIR "/usr/libexec/racewatch/valgrind"

#define error_create(...) (error_create(__VA_ARGS__), error_nomem)
#define error_os(...) (error_os(__VA_ARGS__), error_nomem)
#define error_wrap(err, ...)                                           \
	({                                                             \
		struct error *wrapped_ = (err);                        \
		wrapped_ ? (error_free(wrapped_), error_nomem) : NULL; \
	})

#endif
