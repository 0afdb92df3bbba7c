/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file system with one file, "file", that a child serves by the protocol of
 * fuse(4), until a request of a chosen kind comes, which it never answers.
 */
#ifndef TESTS_FUSE_FILE_H
#define TESTS_FUSE_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fuse_file {
	char folder[64];
	pid_t server;
};

static const char fuse_file_text[] = "served\n";

static void fuse_file_reply(int fd, uint64_t unique, int error,
			    const void *body, size_t size)
{
	char message[4096];
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + size),
		.error = -error,
		.unique = unique,
	};

	memcpy(message, &header, sizeof(header));
	if (size)
		memcpy(message + sizeof(header), body, size);
	(void)!write(fd, message, header.len);
}

static struct fuse_attr fuse_file_attr(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == 1 ? 0 : sizeof(fuse_file_text) - 1,
		.mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void fuse_file_answer(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 31,
				      .max_write = 4096 };
	struct fuse_entry_out entry = { .nodeid = 2 };
	struct fuse_attr_out attr = { .attr = fuse_file_attr(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };
	struct fuse_statfs_out system = { .st = { .bsize = 4096 } };

	switch (in->opcode) {
	case FUSE_INIT:
		fuse_file_reply(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		entry.attr = fuse_file_attr(2);
		fuse_file_reply(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		fuse_file_reply(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		fuse_file_reply(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		fuse_file_reply(fd, in->unique, 0, fuse_file_text,
				sizeof(fuse_file_text) - 1);
		break;
	case FUSE_STATFS:
		fuse_file_reply(fd, in->unique, 0, &system, sizeof(system));
		break;
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		fuse_file_reply(fd, in->unique, ENOSYS, NULL, 0);
	}
}

/* unanswered: an opcode; 0: none */
static void fuse_file_serve(int fd, uint32_t unanswered)
{
	static _Alignas(8) char request[1 << 17];

	while (read(fd, request, sizeof(request)) > 0) {
		const struct fuse_in_header *in = (const void *)request;

		if (in->opcode != unanswered)
			fuse_file_answer(fd, in);
	}
	_exit(0);
}

/* False: that cannot be done here. */
static bool fuse_file_mount(struct fuse_file *file, uint32_t unanswered)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	strcpy(file->folder, "/tmp/racewatch-fuse.XXXXXX");
	if (fd < 0 || !mkdtemp(file->folder))
		return false;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (mount("racewatch-test", file->folder, "fuse", 0, options) < 0) {
		close(fd);
		rmdir(file->folder);
		return false;
	}
	file->server = fork();
	if (file->server == 0)
		fuse_file_serve(fd, unanswered);
	close(fd);
	return true;
}

/* Whoever waits for an answer gets an error, as the server has gone. */
static void fuse_file_unmount(struct fuse_file *file)
{
	kill(file->server, SIGKILL);
	waitpid(file->server, NULL, 0);
	umount2(file->folder, MNT_DETACH);
	rmdir(file->folder);
}

#endif
