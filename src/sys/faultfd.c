/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Serving the pages of another process; see faultfd.h.
 */
#include "sys/faultfd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/pagemap.h"

/* Linux 5.11; the headers may be older. */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static const uint64_t faultfd_features = UFFD_FEATURE_SIGBUS |
					 UFFD_FEATURE_PAGEFAULT_FLAG_WP;

int faultfd_open(void)
{
	struct uffdio_api api = { .api = UFFD_API,
				  .features = faultfd_features };
	int fd = (int)syscall(SYS_userfaultfd,
			      O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	int code;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) == 0)
		return fd;
	code = errno;
	close(fd);
	errno = code;
	return -1;
}

struct error *faultfd_register(int fd, uint64_t start, uint64_t end)
{
	struct uffdio_register range = {
		.range = { .start = start, .len = end - start },
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};

	if (ioctl(fd, UFFDIO_REGISTER, &range) != 0)
		return error_os(errno, "serve memory by userfaultfd");
	return NULL;
}

struct error *faultfd_copy(int fd, uint64_t page, const uint8_t *bytes,
			   bool write_protected)
{
	struct uffdio_copy copy = {
		.dst = page,
		.src = (uintptr_t)bytes,
		.len = PAGEMAP_PAGE,
		.mode = write_protected ? UFFDIO_COPY_MODE_WP : 0,
	};

	/* EAGAIN: the mappings were being changed; they do not go on so */
	while (ioctl(fd, UFFDIO_COPY, &copy) != 0) {
		if (errno != EAGAIN)
			return error_os(errno, "put a page at 0x%llx",
					(unsigned long long)page);
	}
	return NULL;
}

struct error *faultfd_protect(int fd, uint64_t page, bool write_protected)
{
	struct uffdio_writeprotect protect = {
		.range = { .start = page, .len = PAGEMAP_PAGE },
		.mode = write_protected ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	while (ioctl(fd, UFFDIO_WRITEPROTECT, &protect) != 0) {
		if (errno != EAGAIN)
			return error_os(errno, "protect the page at 0x%llx",
					(unsigned long long)page);
	}
	return NULL;
}
