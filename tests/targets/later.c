/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that begins to run later. Two threads run the same function again and
 * again; for each line on standard input they go to another one, which has not
 * run before: of the program, then of a library that is loaded for it. The
 * program says when, by the monotonic clock in nanoseconds, and ends with its
 * input. Beside them it has code that never runs, more than can be armed at once.
 */
#include "target.h"
#include <dlfcn.h>

enum { EARLY, LATE, LOADED, STEPS };

static const char *const steps[STEPS] = { "early", "late", "loaded" };
static int step;
long early, late;
static void (*plugin_set)(long);

/* Functions of a dozen accesses each. */
__asm__(".text\n"
	".rept 12000\n"
	".p2align 4\n"
	".cfi_startproc\n"
	".irp at, 0, 8, 16, 24, 32, 40\n"
	"mov \\at(%rdi), %rax\n"
	"mov %rax, \\at(%rsi)\n"
	".endr\n"
	"ret\n"
	".cfi_endproc\n"
	".endr\n");

/* Most of the time is in the functions that are looked for. */
enum { OFTEN = 100 };

NOINLINE static void early_count(void)
{
	for (int i = 0; i < OFTEN; i++) {
		early--;
		OPAQUE();
	}
}

NOINLINE void late_count(void)
{
	for (int i = 0; i < OFTEN; i++) {
		late--;
		OPAQUE();
	}
}

static void load(const char *program)
{
	char path[4096];
	const char *slash = strrchr(program, '/');
	void *module;

	snprintf(path, sizeof(path), "%.*splugin_module.so",
		 slash ? (int)(slash - program + 1) : 0, program);
	module = dlopen(path, RTLD_NOW);
	target_check(module != NULL, "dlopen");
	plugin_set = (void (*)(long))dlsym(module, "plugin_set");
	target_check(plugin_set != NULL, "dlsym");
}

static void *later_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		switch (__atomic_load_n(&step, __ATOMIC_ACQUIRE)) {
		case EARLY:
			early_count();
			break;
		case LATE:
			late_count();
			break;
		case LOADED:
			for (int n = 0; n < OFTEN; n++)
				plugin_set(x);
			break;
		default:
			return arg;
		}
		x = target_work(x, 40);
	}
	return arg;
}

static void begin(int next)
{
	printf("%s %llu\n", steps[next], (unsigned long long)target_clock());
	fflush(stdout);
	__atomic_store_n(&step, next, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	char line[16];

	target_init(argc, argv, 2);
	for (int i = 0; i < 2; i++)
		threads[i] = target_thread(later_loop, NULL);
	begin(EARLY);
	for (int next = LATE; fgets(line, sizeof(line), stdin); next++) {
		if (next == LOADED)
			load(argv[0]);
		if (next < STEPS)
			begin(next);
	}
	__atomic_store_n(&step, STEPS, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return target_done("later");
}
