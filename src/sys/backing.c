/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is behind a page; see backing.h.
 */
#include "sys/backing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "sys/mapping.h"
#include "sys/pagemap.h"

enum {
	BACKING_DEVICES = 8,
};

/* A device number may be another file system's later: for all who share it. */
static const uint64_t BACKING_KEPT_NS = CLOCK_NS_PER_S;

struct backing_device {
	uint32_t dev_major, dev_minor;
	enum backing_kind kind;
	uint64_t until_ns; /* 0: free */
};

struct backing_devices {
	struct backing_device list[BACKING_DEVICES];
	unsigned int next; /* to be replaced */
};

/* A device number is the same file system for all who have it mounted. */
struct backing_shared {
	struct backing_devices found; /* somewhere in a list of mounts */
	unsigned int users;
};

struct backing {
	pid_t tid;
	bool opened; /* what follows was looked for; at the first question */
	struct mappings mappings; /* they cannot be read... */
	bool gone; /* ...because there is no such process any more */
	dev_t shared; /* of memfd_create(2), shmget(2) and shared anonymous */
	struct backing_devices missing; /* in no list of mounts that we see */
	struct backing_shared *shared_devices;
};

/*
 * File systems whose pages come from memory or from a device of this machine.
 * Of any other (fuse, nfs, cifs, 9p, ...) somebody must provide them.
 */
static const struct {
	const char *type;
	enum backing_kind kind;
} backing_types[] = {
	{ "tmpfs", BACKING_MEMORY },	{ "hugetlbfs", BACKING_MEMORY },
	{ "devtmpfs", BACKING_MEMORY }, { "ramfs", BACKING_MEMORY },
	{ "rootfs", BACKING_MEMORY },	{ "bcachefs", BACKING_DISK },
	{ "btrfs", BACKING_DISK },	{ "cramfs", BACKING_DISK },
	{ "erofs", BACKING_DISK },	{ "exfat", BACKING_DISK },
	{ "ext2", BACKING_DISK },	{ "ext3", BACKING_DISK },
	{ "ext4", BACKING_DISK },	{ "f2fs", BACKING_DISK },
	{ "iso9660", BACKING_DISK },	{ "jfs", BACKING_DISK },
	{ "nilfs2", BACKING_DISK },	{ "ntfs3", BACKING_DISK },
	{ "overlay", BACKING_DISK },	{ "reiserfs", BACKING_DISK },
	{ "squashfs", BACKING_DISK },	{ "ubifs", BACKING_DISK },
	{ "udf", BACKING_DISK },	{ "vfat", BACKING_DISK },
	{ "xfs", BACKING_DISK },	{ "zfs", BACKING_DISK },
};

static enum backing_kind kind_of_type(const char *type, size_t length)
{
	for (size_t i = 0; i < sizeof(backing_types) / sizeof(backing_types[0]);
	     i++) {
		if (strlen(backing_types[i].type) == length &&
		    memcmp(backing_types[i].type, type, length) == 0)
			return backing_types[i].kind;
	}
	return BACKING_SERVED;
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELDS] - TYPE ..." */
static bool mount_has_device(const char *line, uint32_t dev_major,
			     uint32_t dev_minor)
{
	unsigned int line_major, line_minor;

	return sscanf(line, "%*d %*d %u:%u", &line_major, &line_minor) == 2 &&
	       line_major == dev_major && line_minor == dev_minor;
}

enum backing_kind backing_parse_mounts(const char *mounts, uint32_t dev_major,
				       uint32_t dev_minor)
{
	static const char separator[] = " - ";

	for (const char *line = mounts; *line;) {
		size_t length = strcspn(line, "\n");
		const char *type =
			memmem(line, length, separator, strlen(separator));

		if (type && mount_has_device(line, dev_major, dev_minor)) {
			type += strlen(separator);
			return kind_of_type(type, strcspn(type, " \n"));
		}
		line += length + (line[length] == '\n');
	}
	return BACKING_NONE;
}

/* In the mounts that this process sees; BACKING_NONE: not among them. */
static enum backing_kind kind_in_mounts(pid_t pid, uint32_t dev_major,
					uint32_t dev_minor)
{
	enum backing_kind kind = BACKING_NONE;
	cleanup_fclose FILE *file = NULL;
	cleanup_free char *line = NULL;
	char path[32];
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	file = fopen(path, "re");
	while (file && kind == BACKING_NONE && getline(&line, &size, file) > 0)
		kind = backing_parse_mounts(line, dev_major, dev_minor);
	return kind;
}

/*
 * A process sees the mounts below its own root: not the file system that a
 * chroot's root is a folder of. Our own may be the same one. The first process
 * has the root that chroots are made in: the machine's, or a container's. A
 * device in none of the lists (BACKING_NONE) may be any file system of another
 * mount namespace, or one that was unmounted while it was in use. (To ask
 * statfs(2) would be to ask the process that serves it.)
 */
static enum backing_kind device_kind(const struct backing *backing,
				     uint32_t dev_major, uint32_t dev_minor)
{
	const pid_t viewers[] = { backing->tid, getpid(), 1 };

	if (dev_major == 0 && dev_minor == 0)
		return BACKING_MEMORY;
	if (backing->shared == makedev(dev_major, dev_minor))
		return BACKING_MEMORY;
	for (size_t i = 0; i < sizeof(viewers) / sizeof(viewers[0]); i++) {
		enum backing_kind kind =
			kind_in_mounts(viewers[i], dev_major, dev_minor);

		if (kind != BACKING_NONE)
			return kind;
	}
	return BACKING_NONE;
}

/* *ret_kind is what is still known of it. */
static bool device_is_known(const struct backing_devices *devices,
			    uint32_t dev_major, uint32_t dev_minor,
			    enum backing_kind *ret_kind)
{
	uint64_t now = clock_now_ns();

	for (int i = 0; i < BACKING_DEVICES; i++) {
		const struct backing_device *device = &devices->list[i];

		if (device->until_ns <= now || device->dev_major != dev_major ||
		    device->dev_minor != dev_minor)
			continue;
		*ret_kind = device->kind;
		return true;
	}
	return false;
}

static enum backing_kind device_find(struct backing *backing,
				     uint32_t dev_major, uint32_t dev_minor)
{
	struct backing_devices *devices = &backing->shared_devices->found;
	enum backing_kind kind;

	if (device_is_known(devices, dev_major, dev_minor, &kind) ||
	    device_is_known(&backing->missing, dev_major, dev_minor, &kind))
		return kind;
	kind = device_kind(backing, dev_major, dev_minor);
	if (kind == BACKING_NONE) {
		kind = BACKING_SERVED;
		devices = &backing->missing;
	}
	devices->list[devices->next++ % BACKING_DEVICES] =
		(struct backing_device){
			.dev_major = dev_major,
			.dev_minor = dev_minor,
			.kind = kind,
			.until_ns = clock_now_ns() + BACKING_KEPT_NS,
		};
	return kind;
}

/* False: nothing is mapped there. */
static bool mapping_at(struct backing *backing, uint64_t address,
		       struct mapping *ret)
{
	bool found = false;

	error_free(
		mappings_find_place(&backing->mappings, address, ret, &found));
	return found && ret->start <= address;
}

/* Of shared memory that has no mount point. */
static dev_t shared_device(void)
{
	cleanup_close int fd = memfd_create("racewatch", MFD_CLOEXEC);
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 ? status.st_dev : 0;
}

static void backing_open(struct backing *backing)
{
	backing->opened = true;
	backing->shared = shared_device();
	mappings_init(&backing->mappings, backing->tid);
	backing->gone = backing->mappings.fd < 0 &&
			(errno == ENOENT || errno == ESRCH);
}

enum backing_kind backing_until(struct backing *backing, uint64_t address,
				uint64_t *ret_end)
{
	struct mapping mapping;

	*ret_end = (address / PAGEMAP_PAGE + 1) * PAGEMAP_PAGE;
	if (!backing)
		return BACKING_SERVED;
	if (!backing->opened)
		backing_open(backing);
	if (backing->mappings.fd < 0)
		return backing->gone ? BACKING_NONE : BACKING_SERVED;
	if (!mapping_at(backing, address, &mapping))
		return BACKING_NONE;
	*ret_end = mapping.end;
	return device_find(backing, (uint32_t)(mapping.device >> 32),
			   (uint32_t)mapping.device);
}

enum backing_kind backing_of(struct backing *backing, uint64_t address)
{
	uint64_t end;

	return backing_until(backing, address, &end);
}

bool backing_is_quick(const struct backing *backing)
{
	return backing && backing->opened && backing->mappings.fd >= 0 &&
	       !backing->mappings.no_query;
}

struct backing *backing_create(pid_t tid)
{
	struct backing *backing = calloc(1, sizeof(*backing));
	struct backing_shared *shared = calloc(1, sizeof(*shared));

	if (!backing || !shared) {
		free(backing);
		free(shared);
		return NULL;
	}
	backing->tid = tid;
	backing->mappings.fd = -1;
	backing->shared_devices = shared;
	shared->users = 1;
	return backing;
}

static void shared_release(struct backing_shared *shared)
{
	if (--shared->users == 0)
		free(shared);
}

void backing_share(struct backing *backing, struct backing *other)
{
	if (!backing || !other)
		return;
	other->shared_devices->users++;
	shared_release(backing->shared_devices);
	backing->shared_devices = other->shared_devices;
}

void backing_destroy(struct backing *backing)
{
	if (!backing)
		return;
	mappings_deinit(&backing->mappings);
	shared_release(backing->shared_devices);
	free(backing);
}

bool backing_range(struct backing *backing, uint64_t address,
		   struct backing_range *ret)
{
	struct mapping mapping;
	struct error *err;
	bool found;

	if (backing && !backing->opened)
		backing_open(backing);
	if (!backing || backing->mappings.fd < 0 || backing->mappings.no_query)
		return false;
	err = mappings_find_place(&backing->mappings, address, &mapping,
				  &found);
	error_free(err);
	if (err || !found) {
		*ret = (struct backing_range){ address, UINT64_MAX, false };
		return !err;
	}
	if (mapping.start > address) {
		*ret = (struct backing_range){ address, mapping.start, false };
		return true;
	}
	*ret = (struct backing_range){ mapping.start, mapping.end, true };
	return mapping.inode == 0 && mapping.device == 0;
}
