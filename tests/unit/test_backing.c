/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is behind pages that are not in memory: of texts as the kernel writes
 * them, and of mappings of this process.
 */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sys/backing.h"

enum { PAGE = 4096, NOT_ALLOWED = 77 };

static const char mounts[] =
	"23 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"24 23 0:5 / /proc rw - proc proc rw\n"
	"25 23 0:30 / /run rw shared:2 master:3 - tmpfs tmpfs rw,size=9k\n"
	"26 23 0:41 / /mnt/a rw - fuse.sshfs host: rw,user_id=0\n"
	"27 23 0:42 / /mnt/b rw - fuse daemon rw\n"
	"28 23 8:17 / /mnt/ntfs rw - fuseblk /dev/sdb1 rw\n"
	"29 23 0:43 /x /home rw - nfs4 server:/x rw\n"
	"30 23 0:44 / /merged rw - overlay overlay rw,lowerdir=/l\n"
	"31 23 0:45 / /mnt/tmpfs\\040-\\040tmpfs rw - fuse.x x rw\n"
	"32 23 0:46 / /short rw - ext4\n"
	"33 23 0:47 / /broken rw";

static void a_file_system_is_known_by_its_type(void **state)
{
	(void)state;
	assert_int_equal(backing_parse_mounts(mounts, 8, 1), BACKING_DISK);
	assert_int_equal(backing_parse_mounts(mounts, 0, 30), BACKING_MEMORY);
	assert_int_equal(backing_parse_mounts(mounts, 0, 44), BACKING_DISK);
	assert_int_equal(backing_parse_mounts(mounts, 0, 46), BACKING_DISK);
}

static void what_others_provide_is_served(void **state)
{
	(void)state;
	assert_int_equal(backing_parse_mounts(mounts, 0, 41), BACKING_SERVED);
	assert_int_equal(backing_parse_mounts(mounts, 0, 42), BACKING_SERVED);
	assert_int_equal(backing_parse_mounts(mounts, 8, 17), BACKING_SERVED);
	assert_int_equal(backing_parse_mounts(mounts, 0, 43), BACKING_SERVED);
	assert_int_equal(backing_parse_mounts(mounts, 0, 45), BACKING_SERVED);
	/* of no type that is known */
	assert_int_equal(backing_parse_mounts(mounts, 0, 5), BACKING_SERVED);
}

static void a_device_without_a_mount_is_told(void **state)
{
	(void)state;
	assert_int_equal(backing_parse_mounts(mounts, 0, 4), BACKING_NONE);
	assert_int_equal(backing_parse_mounts(mounts, 0, 47), BACKING_NONE);
	assert_int_equal(backing_parse_mounts("", 8, 1), BACKING_NONE);
}

static void mappings_of_a_process_are_told_apart(void **state)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *text = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	void *anonymous =
		mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *shared =
		mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *none =
		mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct backing *backing = backing_create(getpid());
	uint64_t end;

	(void)state;
	munmap(none, PAGE);
	assert_false(backing_is_quick(NULL));
	assert_false(backing_is_quick(backing));
	assert_int_equal(backing_until(backing, (uintptr_t)anonymous + 9, &end),
			 BACKING_MEMORY);
	/* the kernel may have joined it with the one behind it */
	assert_true(end > (uintptr_t)anonymous && end % PAGE == 0);
	assert_int_equal(backing_until(backing, (uintptr_t)none + 9, &end),
			 BACKING_NONE);
	assert_int_equal(end, (uintptr_t)none + PAGE);
	assert_int_equal(backing_of(backing, (uintptr_t)shared),
			 BACKING_MEMORY);
	assert_int_equal(backing_of(backing, (uintptr_t)none), BACKING_NONE);
	/* of whatever file system this is built on */
	assert_int_not_equal(backing_of(backing, (uintptr_t)text),
			     BACKING_NONE);
	assert_int_equal(backing_of(NULL, (uintptr_t)anonymous),
			 BACKING_SERVED);
	backing_destroy(backing);
	munmap(text, PAGE);
	munmap(anonymous, PAGE);
	munmap(shared, PAGE);
	close(file);
}

static void ranges_of_a_process_are_told(void **state)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint8_t *pages = mmap(NULL, 4 * PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct backing *backing = backing_create(getpid());
	struct backing_range range;

	(void)state;
	/* between others, so that neither end is another mapping's */
	mmap(pages, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
	munmap(pages + 2 * PAGE, PAGE);
	mmap(pages + 3 * PAGE, PAGE, PROT_READ,
	     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (!backing_range(backing, (uintptr_t)pages + PAGE + 1, &range))
		skip();
	assert_true(range.mapped);
	assert_int_equal(range.start, (uintptr_t)pages + PAGE);
	assert_int_equal(range.end, (uintptr_t)pages + 2 * PAGE);
	assert_true(
		backing_range(backing, (uintptr_t)pages + 2 * PAGE, &range));
	assert_false(range.mapped);
	assert_int_equal(range.start, (uintptr_t)pages + 2 * PAGE);
	assert_int_equal(range.end, (uintptr_t)pages + 3 * PAGE);
	assert_false(backing_range(backing, (uintptr_t)pages, &range));
	assert_false(
		backing_range(backing, (uintptr_t)pages + 3 * PAGE, &range));
	assert_false(backing_range(NULL, (uintptr_t)pages + PAGE, &range));
	/* behind the last mapping */
	assert_true(backing_range(backing, UINT64_MAX - PAGE, &range));
	assert_false(range.mapped);
	backing_destroy(backing);
	munmap(pages, 4 * PAGE);
	close(file);
}

/* A folder with a file that is mapped to *ret, and with the processes. */
static char *make_root(void **ret)
{
	static char root[] = "/tmp/racewatch-backing.XXXXXX";
	char path[64];
	int file;

	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/file", root);
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, PAGE), 0);
	*ret = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	assert_ptr_not_equal(*ret, MAP_FAILED);
	close(file);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(mkdir(path, 0700), 0);
	return root;
}

static enum backing_kind kind_at(const void *address)
{
	struct backing *backing = backing_create(getpid());
	enum backing_kind kind = backing_of(backing, (uintptr_t)address);

	backing_destroy(backing);
	return kind;
}

/* In a process of its own, which ends with the kind as status. */
static void look_from(const char *root, const void *address)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    chdir(root) < 0 || mount("proc", "proc", "proc", 0, NULL) < 0 ||
	    chroot(".") < 0)
		_exit(NOT_ALLOWED);
	_exit((int)kind_at(address));
}

static void a_chroot_is_on_the_file_system_that_its_folder_is_on(void **state)
{
	void *address;
	char *root = make_root(&address);
	char path[64];
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		look_from(root, address);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	rmdir(root);
	if (WEXITSTATUS(status) == NOT_ALLOWED)
		skip();
	assert_int_equal(WEXITSTATUS(status), kind_at(address));
	munmap(address, PAGE);
}

/* Map the file for reading: its address, or MAP_FAILED. */
static void *map_file(const char *path, int flags)
{
	int file = open(path, flags | O_CLOEXEC, 0600);
	void *address;

	if (flags & O_CREAT && ftruncate(file, PAGE) < 0)
		return MAP_FAILED;
	address = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	return address;
}

/*
 * A process that maps a file of a file system that nobody else has mounted, at
 * *ret; NULL: it must not, and has ended.
 */
static pid_t start_owner(const char *root, void **ret)
{
	int told[2];
	pid_t child;

	assert_int_equal(pipe(told), 0);
	child = fork();
	if (child == 0) {
		void *address = MAP_FAILED;

		if (unshare(CLONE_NEWNS) == 0 &&
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		    mount("none", root, "tmpfs", 0, NULL) == 0 &&
		    chdir(root) == 0)
			address = map_file("file", O_RDWR | O_CREAT);
		if (address == MAP_FAILED ||
		    write(told[1], &address, sizeof(address)) < 0)
			_exit(NOT_ALLOWED);
		for (;;)
			pause();
	}
	close(told[1]);
	if (read(told[0], ret, sizeof(*ret)) != sizeof(*ret))
		*ret = NULL;
	close(told[0]);
	return child;
}

static void end_owner(pid_t owner, const char *root)
{
	kill(owner, SIGKILL);
	assert_int_equal(waitpid(owner, NULL, 0), owner);
	rmdir(root);
}

/* What one process's list of mounts tells is known to all who share it. */
static void what_is_known_of_a_file_system_is_shared(void **state)
{
	char root[] = "/tmp/racewatch-backing.XXXXXX", path[64];
	struct backing *one, *other = backing_create(getpid());
	enum backing_kind kind;
	void *theirs, *address;
	uint64_t asked_ns;
	pid_t owner;

	(void)state;
	assert_non_null(mkdtemp(root));
	owner = start_owner(root, &theirs);
	if (!theirs) {
		end_owner(owner, root);
		backing_destroy(other);
		skip();
	}
	snprintf(path, sizeof(path), "/proc/%d/cwd/file", (int)owner);
	address = map_file(path, O_RDONLY);
	assert_ptr_not_equal(address, MAP_FAILED);
	assert_int_equal(kind_at(address), BACKING_SERVED);
	one = backing_create(owner);
	backing_share(other, one);
	backing_share(other, NULL);
	backing_share(NULL, one);
	backing_share(one, one);
	/* what is known is kept for a second: again where we were kept for longer */
	do {
		asked_ns = clock_now_ns();
		assert_int_equal(backing_of(one, (uintptr_t)theirs),
				 BACKING_MEMORY);
		kind = backing_of(other, (uintptr_t)address);
	} while (kind != BACKING_MEMORY &&
		 clock_now_ns() - asked_ns >= CLOCK_NS_PER_S);
	assert_int_equal(kind, BACKING_MEMORY);
	backing_destroy(one);
	assert_int_not_equal(backing_of(other, (uintptr_t)address),
			     BACKING_NONE);
	backing_destroy(other);
	munmap(address, PAGE);
	end_owner(owner, root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_system_is_known_by_its_type),
		cmocka_unit_test(what_others_provide_is_served),
		cmocka_unit_test(a_device_without_a_mount_is_told),
		cmocka_unit_test(mappings_of_a_process_are_told_apart),
		cmocka_unit_test(ranges_of_a_process_are_told),
		cmocka_unit_test(
			a_chroot_is_on_the_file_system_that_its_folder_is_on),
		cmocka_unit_test(what_is_known_of_a_file_system_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
