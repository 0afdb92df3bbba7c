/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that are known by their names; see names.h.
 */
#include "sampling/names.h"

#include <fnmatch.h>
#include <string.h>

#include "sampling/golang.h"

/* Threads and their synchronization, in libc, libpthread and musl. */
static const char *const threading_functions[] = {
	"__pthread_*", "pthread_*",    "__nptl_*",     "nptl_*",
	"_nptl_*",     "__lll_*",      "lll_*",	       "__new_sem_*",
	"__old_sem_*", "sem_*",	       "__sem_*",      "mtx_*",
	"cnd_*",       "thrd_*",       "tss_*",	       "call_once",
	"__futex_*",   "futex_*",      "__condvar_*",  "__private_*",
	"__wait",      "__wake",       "__lock",       "__unlock",
	"__lockfile",  "__tl_*",       "__vm_lock",    "__vm_unlock",
	"__vm_wait",   "__unlockfile", "__timedwait*",
};

/*
 * Locks and the like of libraries that do more than that, wherever they are
 * linked in. Nothing but synchronization may be in these functions, and their
 * names must be unlikely to be anybody else's.
 */
static const char *const synchronization_functions[] = {
	/* GLib */
	"g_mutex_*",
	"g_rec_mutex_*",
	"g_rw_lock_*",
	"g_cond_*",
	"g_once_init_*",
	"g_atomic_*",
	"g_bit_lock*",
	"g_bit_trylock*",
	"g_bit_unlock*",
	"g_pointer_bit_*",
	/* userspace RCU */
	"urcu_*",
	"_urcu_*",
	/* Qt */
	"_ZN6QMutex*",
	"_ZN11QBasicMutex*",
	"_ZN15QRecursiveMutex*",
	"_ZN14QReadWriteLock*",
	"_ZN14QWaitCondition*",
	"_ZN10QSemaphore*",
};

/*
 * Inside libc, ld.so, libgcc and libgomp, as a static link shows them, besides
 * the above. Only what takes locks, or synchronizes without them, needs to be
 * here; string functions must not.
 */
static const char *const runtime_functions[] = {
	"_IO_*",
	"__libc_*",
	"_dl_*",
	"__dl_*",
	"__tls_*",
	"__rseq_*",
	"start_thread",
	"create_thread",
	"allocate_stack*",
	"clone",
	"__clone*",
	"_int_*",
	"__malloc*",
	"malloc*",
	"calloc",
	"realloc*",
	"free",
	"cfree",
	"__calloc",
	"__realloc*",
	"__free*",
	"__posix_memalign",
	"posix_memalign",
	"aligned_alloc",
	"memalign",
	"valloc",
	"pvalloc",
	"tcache_*",
	"sysmalloc*",
	"systrim*",
	"unlink_chunk*",
	"arena_get*",
	"ptmalloc_*",
	"heap_trim*",
	"mremap_chunk",
	"munmap_chunk",
	"alloc_perturb",
	"grow_heap",
	"shrink_heap",
	"new_heap",
	"detach_arena*",
	"reused_arena*",
	"_nl_*",
	"__gconv*",
	"_Unwind_*",
	"__register_frame*",
	"__deregister_frame*",
	"uw_*",
	"frame_*",
	"__cxa_guard_*",
	"__cxa_finalize",
	"__cxa_atexit",
	"__cxa_thread_atexit*",
	"__new_exitfn",
	"__run_exit_handlers",
	"exit",
	"__internal_atexit",
	"__call_tls_dtors",
	"*vfprintf*",
	"*vfwprintf*",
	"fflush*",
	"fwrite*",
	"fread*",
	"fputs*",
	"fgets*",
	"puts",
	"putchar*",
	"getc*",
	"putc*",
	"fclose",
	"fopen*",
	"__fopen*",
	"getline",
	"__getdelim",
	"__tz*",
	"tz*",
	"setlocale",
	"__setlocale*",
	"__ctype_*",
	"__sigsetjmp",
	"_setjmp",
	"__longjmp*",
	"GOMP_*",
	"gomp_*",
	"__kmp*",
	"__tunable*",
	"_start",
	"__stack_chk_fail",
};

/* memory allocation and files have names that look like mem*. */
static const char *const not_strings[] = {
	"memalign*",  "memfd_*",      "__memalign*", "strerror*", "__strerror*",
	"strsignal*", "__strsignal*", "str_to_mpn*", "strip_*",
};

static const char *const strings[] = {
	"mem[a-z]*", "__mem[a-z]*", "str[a-z]*",  "__str[a-z]*",
	"wcs[a-z]*", "__wcs[a-z]*", "wmem[a-z]*", "__wmem[a-z]*",
	"stp[a-z]*", "__stp[a-z]*", "wcp[a-z]*",  "__wcp[a-z]*",
	"rawmem*",   "__rawmem*",   "mempcpy*",	  "bcopy",
	"bzero",     "bcmp",	    "__bzero*",	  "explicit_bzero*",
	"swab",	     "index",	    "rindex",
};

static const char *const variants[] = {
	"__*_sse[0-9]*", "__*_ssse3*", "__*_avx*", "__*_evex*", "__*_erms*",
};

enum {
	VARIANTS = sizeof(variants) / sizeof(variants[0]),
	THREADING_FUNCTIONS =
		sizeof(threading_functions) / sizeof(threading_functions[0]),
	SYNCHRONIZATION_FUNCTIONS = sizeof(synchronization_functions) /
				    sizeof(synchronization_functions[0]),
	RUNTIME_FUNCTIONS =
		sizeof(runtime_functions) / sizeof(runtime_functions[0]),
	NOT_STRINGS = sizeof(not_strings) / sizeof(not_strings[0]),
	STRINGS = sizeof(strings) / sizeof(strings[0]),
};

static bool is_literal(char letter)
{
	return letter && letter != '*' && letter != '?' && letter != '[' &&
	       letter != '\\';
}

/*
 * fnmatch(3) takes long for a hundred thousand names: it is asked only of what
 * begins as the pattern does, and has more to be said of than that.
 */
static bool pattern_matches(const char *pattern, const char *name)
{
	for (; is_literal(*pattern); pattern++, name++) {
		if (*pattern != *name)
			return false;
	}
	if (!*pattern)
		return !*name;
	return strcmp(pattern, "*") == 0 || fnmatch(pattern, name, 0) == 0;
}

static bool name_matches(const char *name, const char *const *patterns,
			 size_t count)
{
	/* libc's own name for what it also calls itself */
	if (strncmp(name, "__GI_", 5) == 0)
		name += 5;
	for (size_t i = 0; i < count; i++) {
		if (pattern_matches(patterns[i], name))
			return true;
	}
	return false;
}

bool rules_string_name(const char *name)
{
	return name && name_matches(name, strings, STRINGS) &&
	       !name_matches(name, not_strings, NOT_STRINGS);
}

bool rules_variant_name(const char *name)
{
	return name && name_matches(name, variants, VARIANTS);
}

bool rules_runtime_name(const char *name)
{
	return rules_threading_name(name) ||
	       (name &&
		name_matches(name, runtime_functions, RUNTIME_FUNCTIONS));
}

bool rules_threading_name(const char *name)
{
	return name &&
	       name_matches(name, threading_functions, THREADING_FUNCTIONS);
}

bool rules_synchronization_name(const char *name)
{
	return name && (name_matches(name, synchronization_functions,
				     SYNCHRONIZATION_FUNCTIONS) ||
			go_runtime_name(name));
}
