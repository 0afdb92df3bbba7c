/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that serves its own page faults through userfaultfd(2): one thread
 * fills pages, two use them and give them back. What touches such a page while
 * the serving thread is stopped waits for ever.
 *
 *	serves_pages SECONDS|xROUNDS missing|user|shared|protect
 *
 * user: faults in user mode only, which needs no privilege; shared: pages of a
 * memfd; protect: pages are there, but protected against writes.
 */
#include "special.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PAGE = 4096, PAGES = 64, USERS = 2, WORDS = PAGE / 8 };

static char *region;
static int faults, protects, advice = MADV_DONTNEED;
static unsigned long served;
static unsigned char tallies[64];

/* What is in word I of the page at ADDRESS when it is new. */
NOINLINE static uint64_t content(uint64_t address, unsigned i)
{
	return (address / PAGE * 31 + i) * 7;
}

NOINLINE static void fill(uint64_t *page, uint64_t address)
{
	for (unsigned i = 0; i < WORDS; i++)
		page[i] = content(address, i);
}

static void serve_missing(uint64_t address)
{
	static uint64_t page[WORDS] __attribute__((aligned(PAGE)));
	struct uffdio_copy copy = { .dst = address / PAGE * PAGE,
				    .src = (uintptr_t)page,
				    .len = PAGE };

	fill(page, copy.dst);
	target_check(!ioctl(faults, UFFDIO_COPY, &copy) || errno == EEXIST ||
			     errno == EAGAIN,
		     "UFFDIO_COPY");
}

static void protect(uint64_t address, uint64_t size, uint64_t mode)
{
	struct uffdio_writeprotect args = { .range = { address, size },
					    .mode = mode };

	while (ioctl(faults, UFFDIO_WRITEPROTECT, &args))
		target_check(errno == EAGAIN, "UFFDIO_WRITEPROTECT");
}

/* Many locations: a breakpoint is most likely to be in one of these. */
#define TALLY_4(i)                                                \
	tally[i]++, tally[(i) + 1] ^= tally[i], tally[(i) + 2]--, \
		tally[(i) + 3] += tally[(i) + 1]
#define TALLY_16(i) \
	TALLY_4(i), TALLY_4((i) + 4), TALLY_4((i) + 8), TALLY_4((i) + 12)

NOINLINE static void tally_fault(unsigned char *tally)
{
	TALLY_16(0), TALLY_16(16), TALLY_16(32), TALLY_16(48);
}

static void *serve(void *arg)
{
	struct uffd_msg message;

	while (read(faults, &message, sizeof(message)) == sizeof(message)) {
		uint64_t address = message.arg.pagefault.address;

		tally_fault(tallies);
		served++;
		if (protects)
			protect(address / PAGE * PAGE, PAGE, 0);
		else
			serve_missing(address);
	}
	return arg;
}

/* Use each page of a range, then give it back. */
NOINLINE static void use(uint64_t *page, unsigned i)
{
	uint64_t was = page[i];

	target_check(protects || was == content((uintptr_t)page, i),
		     "a page has wrong content");
	page[i] = was + 1;
	page[i + 1] ^= 1;
}

static void *use_pages(void *arg)
{
	char *mine = arg;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		for (int p = 0; p < PAGES; p++)
			use((uint64_t *)(mine + (size_t)p * PAGE),
			    (unsigned)i % (WORDS - 1));
		if (protects)
			protect((uintptr_t)mine, (uint64_t)PAGES * PAGE,
				UFFDIO_WRITEPROTECT_MODE_WP);
		else
			madvise(mine, (size_t)PAGES * PAGE, advice);
	}
	return NULL;
}

static void map_region(const char *mode)
{
	size_t size = (size_t)USERS * PAGES * PAGE;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int file = -1, user = !strcmp(mode, "user");

	protects = !strcmp(mode, "protect");
	if (!strcmp(mode, "shared")) {
		file = memfd_create("pages", MFD_CLOEXEC);
		target_check(file >= 0 && !ftruncate(file, (off_t)size),
			     "memfd_create");
		advice = MADV_REMOVE;
	}
	region = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
		      file, 0);
	target_check(region != MAP_FAILED, "mmap");
	if (protects) {
		memset(region, 1, size);
		range.mode = UFFDIO_REGISTER_MODE_WP;
	}
	faults = (int)syscall(SYS_userfaultfd,
			      O_CLOEXEC | (user ? UFFD_USER_MODE_ONLY : 0));
	if (faults < 0 && errno == EPERM) {
		puts("no userfaultfd");
		exit(77);
	}
	target_check(faults >= 0 && !ioctl(faults, UFFDIO_API, &api),
		     "userfaultfd");
	range.range = (struct uffdio_range){ (uintptr_t)region, size };
	target_check(!ioctl(faults, UFFDIO_REGISTER, &range),
		     "UFFDIO_REGISTER");
	if (protects)
		protect((uintptr_t)region, size, UFFDIO_WRITEPROTECT_MODE_WP);
}

int main(int argc, char **argv)
{
	pthread_t users[USERS], server;

	target_init(argc, argv, USERS);
	map_region(argc > 2 ? argv[2] : "missing");
	pthread_create(&server, NULL, serve, NULL);
	for (int i = 0; i < USERS; i++)
		users[i] = target_thread(use_pages,
					 region + (size_t)i * PAGES * PAGE);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < USERS; i++)
		pthread_join(users[i], NULL);
	target_check(served > 0, "no page was served");
	return target_done("serves_pages");
}
