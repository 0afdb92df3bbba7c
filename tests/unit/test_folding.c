/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/folding.c, and whose code a frame is (src/report/frame.c). */
#include "report/folding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "report/frame.h"

/* What the tests have is never changed. */
static char *text(const char *constant)
{
	union {
		const char *constant;
		char *text;
	} cast = { constant };

	return cast.text;
}

static struct race_frame frame(const char *function, const char *file,
			       const char *module)
{
	return (struct race_frame){ .function = text(function),
				    .file = text(file),
				    .module = text(module) };
}

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define VECTOR "/usr/include/c++/12/bits/stl_vector.h"

static void library_is(const char *function, const char *file,
		       const char *module, const char *expected)
{
	struct race_frame it = frame(function, file, module);
	struct strbuf name = { 0 };

	assert_int_equal(race_frame_is_own(&it), expected == NULL);
	if (!expected)
		return;
	race_frame_add_library(&name, &it);
	assert_string_equal(strbuf_text(&name), expected);
	strbuf_deinit(&name);
}

static void sources_of_a_language_are_its_library(void **state)
{
	(void)state;
	library_is("push_back", VECTOR, "/home/a/cache", "libstdc++");
	library_is("f", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr.h",
		   "/home/a/cache", "libstdc++");
	library_is("f", "/usr/lib/llvm-14/include/c++/v1/vector",
		   "/home/a/cache", "libc++");
	library_is("f", "/usr/include/boost/asio.hpp", "/home/a/cache",
		   "boost");
	library_is("f", "/usr/include/stdlib.h", "/home/a/cache",
		   "system headers");
	library_is("f", "/rustc/897e37/library/std/src/thread/mod.rs",
		   "/home/a/cache", "Rust");
	library_is("f", "/home/a/.rustup/lib/rustlib/src/rust/library/x.rs",
		   "/home/a/cache", "Rust");
	library_is("f", "library/std/src/sys/thread/unix.rs", "/home/a/cache",
		   "Rust");
	library_is("f", "/home/a/.cargo/registry/src/index-1/rayon-1/src/x.rs",
		   "/home/a/cache", "crates");
	library_is("f", "/usr/lib/go-1.19/src/runtime/proc.go", "/home/a/cache",
		   "Go");
	library_is("f", "../sysdeps/unix/sysv/linux/clone3.S", "/home/a/cache",
		   "libc");
}

static void modules_of_the_system_are_libraries(void **state)
{
	(void)state;
	library_is("g", NULL, "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0",
		   "libglib-2.0");
	library_is("start_thread", "./nptl/pthread_create.c", LIBC, "libc");
	library_is(NULL, NULL, "[vdso]", "[vdso]");
	/* as other tools name them */
	library_is("malloc", NULL, "libc.so.6", "libc");
	/* its own build of it */
	library_is("f", "/home/a/glib/glib.c",
		   "/usr/local/lib/libglib-2.0.so.0", NULL);
}

static void what_is_installed_as_a_program_is_own_code(void **state)
{
	(void)state;
	library_is("main", "/build/pg/main.c",
		   "/usr/lib/postgresql/15/bin/postgres", NULL);
	library_is("main", "./src/main.c", "/usr/bin/cache", NULL);
}

static void names_tell_where_there_is_no_source(void **state)
{
	(void)state;
	library_is("_start", NULL, "/home/a/cache", "libc");
	library_is("std::thread::_Invoker<int>::operator()()", NULL,
		   "/home/a/cache", "std");
	library_is("<std::sys::thread::Thread>::new", NULL, "/home/a/cache",
		   "std");
	/* a namespace of the program's own, or Rust's */
	library_is("core::Engine::run", NULL, "/home/a/cache", NULL);
	library_is("alloc::Pool::take", NULL, "/home/a/cache", NULL);
	library_is("std::hash<key>::operator()", "/home/a/key.h",
		   "/home/a/cache", NULL);
	library_is("__rust_try", NULL, "/home/a/cache", "std");
	library_is("std::thread::_M_start_thread", NULL,
		   "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
		   "libstdc++");
	library_is("stdout_add", NULL, "/home/a/cache", NULL);
	library_is(NULL, NULL, "/home/a/cache", NULL);
	library_is(NULL, NULL, NULL, NULL);
}

/* A stack of these, 'o'wn or code of libstd'c'++, 'l'ibc, or 'r' of Rust. */
static struct vec stack(const char *kinds)
{
	struct vec frames = VEC_INIT(struct race_frame);

	for (; *kinds; kinds++) {
		struct race_frame it = frame("f", NULL, "/home/a/cache");

		if (*kinds == 'c')
			it.file = text(VECTOR);
		else if (*kinds == 'r')
			it.file = text("/rustc/1/library/std/src/lib.rs");
		else if (*kinds == 'l')
			it.module = text(LIBC);
		assert_true(vec_push(&frames, &it));
	}
	return frames;
}

static void folds(const char *kinds, size_t at, size_t expected)
{
	struct vec frames = stack(kinds);

	assert_int_equal(folding_count(&frames, at), expected);
	vec_deinit(&frames);
}

static void frames_of_libraries_in_a_row_are_folded(void **state)
{
	(void)state;
	folds("occo", 1, 2);
	folds("ocllo", 1, 3);
	folds("cco", 0, 2);
	folds("olc", 1, 2);
	folds("olc", 2, 1);
}

static void own_code_and_single_frames_are_shown(void **state)
{
	(void)state;
	folds("oo", 0, 1);
	folds("oco", 1, 1);
	folds("o", 0, 1);
}

static void without_own_code_all_is_shown(void **state)
{
	(void)state;
	folds("llll", 0, 1);
	folds("clcl", 2, 1);
}

static void folded_frames_name_each_library_once(void **state)
{
	struct vec frames = stack("occlclro");
	struct strbuf line = { 0 };

	(void)state;
	folding_add(&line, &frames, 1, folding_count(&frames, 1));
	assert_string_equal(strbuf_text(&line),
			    "... 6 frames of libstdc++, libc, Rust");
	strbuf_deinit(&line);
	vec_deinit(&frames);
}

static void first_own_is(const char *kinds, size_t expected)
{
	struct vec frames = stack(kinds);

	assert_int_equal(race_frames_find_own(&frames), expected);
	vec_deinit(&frames);
}

static void own_frames_with_source_are_found_first(void **state)
{
	struct vec frames = stack("clooo");
	struct race_frame *third = vec_at(&frames, 3);

	(void)state;
	first_own_is("clooo", 2);
	first_own_is("cll", 0);
	first_own_is("", 0);
	third->file = text("/home/a/cache.c");
	assert_int_equal(race_frames_find_own(&frames), 3);
	vec_deinit(&frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_of_a_language_are_its_library),
		cmocka_unit_test(modules_of_the_system_are_libraries),
		cmocka_unit_test(what_is_installed_as_a_program_is_own_code),
		cmocka_unit_test(names_tell_where_there_is_no_source),
		cmocka_unit_test(frames_of_libraries_in_a_row_are_folded),
		cmocka_unit_test(own_code_and_single_frames_are_shown),
		cmocka_unit_test(without_own_code_all_is_shown),
		cmocka_unit_test(folded_frames_name_each_library_once),
		cmocka_unit_test(own_frames_with_source_are_found_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
