/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Descriptors in messages; see passfd.h.
 */
#include "base/passfd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool passfd_send(int socket, const void *bytes, size_t size, int fd)
{
	union control control;
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	memset(&control, 0, sizeof(control));
	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

bool passfd_receive(int socket, int flags, void *bytes, size_t size,
		    int *ret_fd)
{
	union control control;
	struct iovec part = { bytes, size };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	const struct cmsghdr *header;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	header = n < 0 ? NULL : CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	if (n == (ssize_t)size)
		return true;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	return false;
}
