/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that provides the file system (fuse(4)) of a file that it maps
 * itself: one thread answers the kernel, two read pages of the file and have
 * the kernel forget them. What touches such a page while the answering thread
 * is stopped waits for ever. The file system is mounted on /mnt, in a mount
 * namespace that ends with the program. Status 77: that is not allowed.
 *
 *	serves_files SECONDS|xROUNDS
 */
#include "special.h"
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { PAGE = 4096, PAGES = 64, USERS = 2, WORDS = PAGE / 8, FILE_NODE = 2 };

static int device;
static unsigned long served;
static unsigned char tallies[64];

/* What is in word I of the file. */
NOINLINE static uint64_t content(uint64_t i)
{
	return (i * 31 + i % WORDS) * 7;
}

/* Many locations: a breakpoint is most likely to be in one of these. */
#define TALLY_4(i)                                                \
	tally[i]++, tally[(i) + 1] ^= tally[i], tally[(i) + 2]--, \
		tally[(i) + 3] += tally[(i) + 1]
#define TALLY_16(i) \
	TALLY_4(i), TALLY_4((i) + 4), TALLY_4((i) + 8), TALLY_4((i) + 12)

NOINLINE static void tally_request(unsigned char *tally)
{
	TALLY_16(0), TALLY_16(16), TALLY_16(32), TALLY_16(48);
}

static void answer(uint64_t unique, int error, const void *data, size_t size)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + (error ? 0 : size)),
		.error = -error,
		.unique = unique,
	};
	struct iovec parts[] = { { &header, sizeof(header) },
				 { (void *)data, error ? 0 : size } };

	/* ENOENT: the one who asked has gone */
	target_check(writev(device, parts, 2) > 0 || errno == ENOENT,
		     "write to /dev/fuse");
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1, .blksize = PAGE };

	attr.mode = node == FILE_NODE ? S_IFREG | 0444 : S_IFDIR | 0555;
	attr.size = node == FILE_NODE ? USERS * PAGES * PAGE : 0;
	return attr;
}

static void answer_lookup(const struct fuse_in_header *in)
{
	struct fuse_entry_out out = { .nodeid = FILE_NODE,
				      .entry_valid = 1000,
				      .attr_valid = 1000,
				      .attr = attributes(FILE_NODE) };

	answer(in->unique, strcmp((const char *)(in + 1), "data") ? ENOENT : 0,
	       &out, sizeof(out));
}

static void answer_read(const struct fuse_in_header *in)
{
	static uint64_t words[USERS * PAGES * WORDS];
	const struct fuse_read_in *args = (const void *)(in + 1);
	uint64_t from = args->offset / 8, n = args->size / 8;

	for (uint64_t i = 0; i < n; i++)
		words[i] = content(from + i);
	served++;
	answer(in->unique, 0, words, n * 8);
}

static void answer_request(const struct fuse_in_header *in)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = PAGE };
	struct fuse_attr_out attr = { .attr_valid = 1000,
				      .attr = attributes(in->nodeid) };
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer_lookup(in);
		break;
	case FUSE_GETATTR:
		answer(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		answer_read(in);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(in->unique, ENOSYS, NULL, 0);
	}
}

static void *serve(void *arg)
{
	static uint64_t request[FUSE_MIN_READ_BUFFER * 4 / 8];

	while (read(device, request, sizeof(request)) > 0) {
		tally_request(tallies);
		answer_request((const struct fuse_in_header *)request);
	}
	return arg;
}

/* The kernel forgets these bytes of the file. */
static void forget(uint64_t offset, uint64_t size)
{
	struct {
		struct fuse_out_header header;
		struct fuse_notify_inval_inode_out args;
	} notice = {
		.header = { .len = sizeof(notice),
			    .error = FUSE_NOTIFY_INVAL_INODE },
		.args = { FILE_NODE, (int64_t)offset, (int64_t)size },
	};

	target_check(write(device, &notice, sizeof(notice)) > 0,
		     "FUSE_NOTIFY_INVAL_INODE");
}

NOINLINE static void use(const uint64_t *page, uint64_t i)
{
	target_check(page[0] == content(i), "a page has wrong content");
	target_check(page[1] == content(i + 1), "a page has wrong content");
}

static void *use_pages(void *arg)
{
	unsigned user = (unsigned)(uintptr_t)arg;
	uint64_t offset = (uint64_t)user * PAGES * PAGE;
	int file = open("/mnt/data", O_RDONLY | O_CLOEXEC);
	const uint64_t *words;

	target_check(file >= 0, "/mnt/data");
	words = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ, MAP_PRIVATE, file,
		     (off_t)offset);
	target_check(words != MAP_FAILED, "mmap");
	/* now, so that our end does not wait for a thread that has ended */
	close(file);
	madvise((void *)words, (size_t)PAGES * PAGE, MADV_RANDOM);
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		for (uint64_t w = 0; w < PAGES * WORDS; w += WORDS)
			use(words + w, offset / 8 + w);
		forget(offset, (uint64_t)PAGES * PAGE);
	}
	return NULL;
}

static void mount_files(void)
{
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device,
		 getuid(), getgid());
	if (device < 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("serves_files", "/mnt", "fuse", MS_NOSUID | MS_NODEV,
		  options)) {
		printf("no fuse: %s\n", strerror(errno));
		exit(77);
	}
}

int main(int argc, char **argv)
{
	pthread_t users[USERS], server;

	target_init(argc, argv, USERS);
	mount_files();
	pthread_create(&server, NULL, serve, NULL);
	for (unsigned i = 0; i < USERS; i++)
		users[i] = target_thread(use_pages, (void *)(uintptr_t)i);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < USERS; i++)
		pthread_join(users[i], NULL);
	target_check(served > 0, "no page was served");
	return target_done("serves_files");
}
