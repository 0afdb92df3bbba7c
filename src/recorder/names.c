/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names are looked up in a sorted table, without the prefixes that allocators
 * and C libraries put before them. The names of C++'s operators new and delete
 * are those of the Itanium ABI for x86-64.
 */
#include "recorder/names.h"

#include <stdint.h>

#include "recorder/os.h"

struct watched_name {
	const char *name;
	enum watched kind;
};

/* Sorted by byte, shorter ones first. */
static const struct watched_name watched_names[] = {
	{ "GOMP_critical_end", WATCH_CRITICAL_END },
	{ "GOMP_critical_name_end", WATCH_UNLOCK },
	{ "GOMP_critical_name_start", WATCH_OMP_LOCK },
	{ "GOMP_critical_start", WATCH_CRITICAL },
	{ "_ZdaPv", WATCH_FREE },
	{ "_ZdaPvRKSt9nothrow_t", WATCH_FREE },
	{ "_ZdaPvSt11align_val_t", WATCH_FREE },
	{ "_ZdaPvSt11align_val_tRKSt9nothrow_t", WATCH_FREE },
	{ "_ZdaPvm", WATCH_FREE },
	{ "_ZdaPvmSt11align_val_t", WATCH_FREE },
	{ "_ZdlPv", WATCH_FREE },
	{ "_ZdlPvRKSt9nothrow_t", WATCH_FREE },
	{ "_ZdlPvSt11align_val_t", WATCH_FREE },
	{ "_ZdlPvSt11align_val_tRKSt9nothrow_t", WATCH_FREE },
	{ "_ZdlPvm", WATCH_FREE },
	{ "_ZdlPvmSt11align_val_t", WATCH_FREE },
	{ "_Znam", WATCH_ALLOCATE },
	{ "_ZnamRKSt9nothrow_t", WATCH_ALLOCATE },
	{ "_ZnamSt11align_val_t", WATCH_ALLOCATE },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", WATCH_ALLOCATE },
	{ "_Znwm", WATCH_ALLOCATE },
	{ "_ZnwmRKSt9nothrow_t", WATCH_ALLOCATE },
	{ "_ZnwmSt11align_val_t", WATCH_ALLOCATE },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", WATCH_ALLOCATE },
	{ "__kmpc_critical", WATCH_KMP_LOCK },
	{ "__kmpc_critical_with_hint", WATCH_KMP_LOCK },
	{ "__kmpc_end_critical", WATCH_KMP_UNLOCK },
	{ "__kmpc_set_lock", WATCH_KMP_LOCK },
	{ "__kmpc_set_nest_lock", WATCH_KMP_LOCK },
	{ "__kmpc_test_lock", WATCH_KMP_TEST },
	{ "__kmpc_test_nest_lock", WATCH_KMP_TEST },
	{ "__kmpc_unset_lock", WATCH_KMP_UNLOCK },
	{ "__kmpc_unset_nest_lock", WATCH_KMP_UNLOCK },
	{ "aligned_alloc", WATCH_ALLOCATE_SECOND },
	{ "bcmp", WATCH_STRING },
	{ "bcopy", WATCH_STRING },
	{ "bzero", WATCH_STRING },
	{ "calloc", WATCH_CALLOC },
	{ "cfree", WATCH_FREE },
	{ "free", WATCH_FREE },
	{ "malloc", WATCH_ALLOCATE },
	{ "memalign", WATCH_ALLOCATE_SECOND },
	{ "memccpy", WATCH_STRING },
	{ "memchr", WATCH_STRING },
	{ "memcmp", WATCH_STRING },
	{ "memcpy", WATCH_STRING },
	{ "memcpy_chk", WATCH_STRING },
	{ "memmem", WATCH_STRING },
	{ "memmove", WATCH_STRING },
	{ "memmove_chk", WATCH_STRING },
	{ "mempcpy", WATCH_STRING },
	{ "mempcpy_chk", WATCH_STRING },
	{ "memrchr", WATCH_STRING },
	{ "memset", WATCH_STRING },
	{ "memset_chk", WATCH_STRING },
	{ "omp_set_lock", WATCH_OMP_LOCK },
	{ "omp_set_lock_", WATCH_OMP_LOCK },
	{ "omp_set_nest_lock", WATCH_OMP_LOCK },
	{ "omp_set_nest_lock_", WATCH_OMP_LOCK },
	{ "omp_test_lock", WATCH_OMP_TEST },
	{ "omp_test_lock_", WATCH_OMP_TEST },
	{ "omp_test_nest_lock", WATCH_OMP_TEST },
	{ "omp_test_nest_lock_", WATCH_OMP_TEST },
	{ "omp_unset_lock", WATCH_UNLOCK },
	{ "omp_unset_lock_", WATCH_UNLOCK },
	{ "omp_unset_nest_lock", WATCH_UNLOCK },
	{ "omp_unset_nest_lock_", WATCH_UNLOCK },
	{ "posix_memalign", WATCH_MEMALIGN },
	{ "pthread_barrier_wait", WATCH_BARRIER },
	{ "pthread_clockjoin_np", WATCH_JOIN },
	{ "pthread_cond_broadcast", WATCH_SIGNAL },
	{ "pthread_cond_clockwait", WATCH_WAIT },
	{ "pthread_cond_signal", WATCH_SIGNAL },
	{ "pthread_cond_timedwait", WATCH_WAIT },
	{ "pthread_cond_wait", WATCH_WAIT },
	{ "pthread_join", WATCH_JOIN },
	{ "pthread_mutex_clocklock", WATCH_LOCK },
	{ "pthread_mutex_lock", WATCH_LOCK },
	{ "pthread_mutex_timedlock", WATCH_LOCK },
	{ "pthread_mutex_trylock", WATCH_LOCK },
	{ "pthread_mutex_unlock", WATCH_UNLOCK },
	{ "pthread_rwlock_clockrdlock", WATCH_READ_LOCK },
	{ "pthread_rwlock_clockwrlock", WATCH_WRITE_LOCK },
	{ "pthread_rwlock_rdlock", WATCH_READ_LOCK },
	{ "pthread_rwlock_timedrdlock", WATCH_READ_LOCK },
	{ "pthread_rwlock_timedwrlock", WATCH_WRITE_LOCK },
	{ "pthread_rwlock_tryrdlock", WATCH_READ_LOCK },
	{ "pthread_rwlock_trywrlock", WATCH_WRITE_LOCK },
	{ "pthread_rwlock_unlock", WATCH_RWLOCK_UNLOCK },
	{ "pthread_rwlock_wrlock", WATCH_WRITE_LOCK },
	{ "pthread_spin_lock", WATCH_SPIN_LOCK },
	{ "pthread_spin_trylock", WATCH_SPIN_LOCK },
	{ "pthread_spin_unlock", WATCH_SPIN_UNLOCK },
	{ "pthread_timedjoin_np", WATCH_JOIN },
	{ "pthread_tryjoin_np", WATCH_JOIN },
	{ "pvalloc", WATCH_ALLOCATE },
	{ "rawmemchr", WATCH_STRING },
	{ "realloc", WATCH_REALLOC },
	{ "sem_clockwait", WATCH_SEMAPHORE_WAIT },
	{ "sem_post", WATCH_SEMAPHORE_POST },
	{ "sem_timedwait", WATCH_SEMAPHORE_WAIT },
	{ "sem_trywait", WATCH_SEMAPHORE_WAIT },
	{ "sem_wait", WATCH_SEMAPHORE_WAIT },
	{ "stpcpy", WATCH_STRING },
	{ "stpncpy", WATCH_STRING },
	{ "strcasecmp", WATCH_STRING },
	{ "strcat", WATCH_STRING },
	{ "strchr", WATCH_STRING },
	{ "strchrnul", WATCH_STRING },
	{ "strcmp", WATCH_STRING },
	{ "strcpy", WATCH_STRING },
	{ "strcspn", WATCH_STRING },
	{ "strlen", WATCH_STRING },
	{ "strncasecmp", WATCH_STRING },
	{ "strncat", WATCH_STRING },
	{ "strncmp", WATCH_STRING },
	{ "strncpy", WATCH_STRING },
	{ "strnlen", WATCH_STRING },
	{ "strpbrk", WATCH_STRING },
	{ "strrchr", WATCH_STRING },
	{ "strspn", WATCH_STRING },
	{ "strstr", WATCH_STRING },
	{ "thrd_join", WATCH_JOIN },
	{ "valloc", WATCH_ALLOCATE },
	{ "wcscmp", WATCH_STRING },
	{ "wcscpy", WATCH_STRING },
	{ "wcslen", WATCH_STRING },
	{ "wmemchr", WATCH_STRING },
	{ "wmemcmp", WATCH_STRING },
	{ "wmemcpy", WATCH_STRING },
	{ "wmemmove", WATCH_STRING },
	{ "wmemset", WATCH_STRING },
};
enum { WATCHED_NAMES = sizeof(watched_names) / sizeof(*watched_names) };

/* jemalloc, tcmalloc, mimalloc and dlmalloc; glibc, its underscores last. */
static const char *const prefixes[] = { "je_",	   "tc_", "mi_", "dl",
					"__libc_", "___", "__" };
enum { PREFIXES = sizeof(prefixes) / sizeof(*prefixes) };

static int compare(const char *name, size_t length, const char *other)
{
	size_t n = os_length(other), both = length < n ? length : n;
	int order = os_compare(name, other, both);

	if (order != 0)
		return order;
	return length < n ? -1 : length > n;
}

static enum watched find_exact(const char *name, size_t length)
{
	size_t low = 0, high = WATCHED_NAMES;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = compare(name, length, watched_names[middle].name);

		if (order == 0)
			return watched_names[middle].kind;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return WATCH_NONE;
}

enum watched names_find(const char *name, size_t length)
{
	enum watched kind = find_exact(name, length);

	for (size_t i = 0; kind == WATCH_NONE && i < PREFIXES; i++) {
		size_t n = os_length(prefixes[i]);

		if (length > n && os_compare(name, prefixes[i], n) == 0)
			kind = find_exact(name + n, length - n);
	}
	return kind;
}

/* Match one character with what *x_pattern begins with, and pass over that. */
static bool match_one(const char **x_pattern, char c)
{
	const char *pattern = *x_pattern;
	bool found = false;

	if (*pattern != '[') {
		*x_pattern = pattern + 1;
		return *pattern == '?' || *pattern == c;
	}
	for (pattern++; *pattern != '\0' && *pattern != ']'; pattern++) {
		if (pattern[1] == '-' && pattern[2] != '\0') {
			found |= c >= pattern[0] && c <= pattern[2];
			pattern += 2;
		} else {
			found |= *pattern == c;
		}
	}
	*x_pattern = *pattern == ']' ? pattern + 1 : pattern;
	return found;
}

bool names_match(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text != '\0') {
		const char *rest = pattern;

		if (*pattern == '*') {
			star = ++pattern;
			again = text;
		} else if (*pattern != '\0' && match_one(&rest, *text)) {
			pattern = rest;
			text++;
		} else if (star) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}
