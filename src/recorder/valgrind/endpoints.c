/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel tells: the two ends of a pipe have one inode, two TCP sockets have
 * each other's addresses, and what a Unix socket is connected to is asked for by
 * sock_diag(7), while both are open. What is found is kept, for when one of them
 * is closed first.
 */
#include "recorder/valgrind/endpoints.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

#include <pub_tool_basics.h>

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

#include "recorder/channels.h"
#include "recorder/moves.h"
#include "recorder/os.h"

/* Of Valgrind's core, which does not declare it for tools: a system call. */
extern SysRes VG_(do_syscall)(UWord number, RegWord, RegWord, RegWord, RegWord,
			      RegWord, RegWord, RegWord, RegWord);

/* Of <sys/socket.h> and <netinet/in.h>, which contradict Valgrind's headers. */
enum { UNIX = 1, INET = 2, INET6 = 10, NETLINK = 16 };
enum { STREAM = 1, RAW = 3, CLOEXEC = 02000000, TCP = 6 };
enum { LEVEL_SOCKET = 1, TYPE = 3, PROTOCOL = 38, DOMAIN = 39 };

struct address {
	uint16_t family;
	uint8_t bytes[126];
};

static Word call(UWord number, UWord a, UWord b, UWord c, UWord d, UWord e)
{
	SysRes result = VG_(do_syscall)(number, a, b, c, d, e, 0, 0, 0);

	return sr_isError(result) ? -1 : (Word)sr_Res(result);
}

static bool is_readable(uint64_t address, uint64_t size)
{
	return VG_(am_is_valid_for_client)(address, size, VKI_PROT_READ);
}

static int socket_option(int fd, int option)
{
	int value = -1, size = sizeof(value);

	if (call(__NR_getsockopt, (UWord)fd, LEVEL_SOCKET, (UWord)option,
		 (UWord)&value, (UWord)&size) < 0)
		return -1;
	return value;
}

/* Address and port of IPv4, in 48 bits, or a hash of those of IPv6. */
static uint64_t fold_address(const struct address *address)
{
	static const uint8_t mapped[] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255
	};
	/* sockaddr_in6 has the port, 4 bytes, and the address */
	const uint8_t *from = address->bytes + 2, *ipv6 = address->bytes + 6;
	uint64_t port = (uint64_t)address->bytes[0] << 8 | address->bytes[1];
	uint64_t hash = port;

	if (address->family == INET6) {
		if (VG_(memcmp)(ipv6, mapped, sizeof(mapped)) != 0) {
			for (int i = 0; i < 16; i++)
				hash = (hash ^ ipv6[i]) * 0x100000001b3u;
			return hash | (uint64_t)1 << 63;
		}
		from = ipv6 + sizeof(mapped);
	}
	return ((uint64_t)from[0] << 24 | (uint64_t)from[1] << 16 |
		(uint64_t)from[2] << 8 | from[3])
		       << 16 |
	       port;
}

static bool address_of(UWord number, int fd, uint64_t *ret)
{
	struct address address = { 0 };
	int size = sizeof(address);

	if (call(number, (UWord)fd, (UWord)&address, (UWord)&size, 0, 0) < 0)
		return false;
	*ret = fold_address(&address);
	return true;
}

static bool identify_tcp(int fd, bool receives, struct trace_channel *ret)
{
	ret->kind = TRACE_STREAM_TCP;
	return address_of(__NR_getsockname, fd, &ret->where[receives]) &&
	       address_of(__NR_getpeername, fd, &ret->where[!receives]);
}

struct question {
	struct nlmsghdr head;
	struct unix_diag_req request;
};

/* The attribute UNIX_DIAG_PEER of an answer; 0: it has none. */
static uint32_t read_peer(const unsigned char *answer, size_t size)
{
	const struct nlmsghdr *head = (const void *)answer;
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	struct nlattr attribute;
	uint32_t inode;

	if (size < at || head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	while (at + sizeof(attribute) + sizeof(inode) <= size) {
		os_copy(&attribute, answer + at, sizeof(attribute));
		if (attribute.nla_type == UNIX_DIAG_PEER) {
			os_copy(&inode, answer + at + NLA_HDRLEN,
				sizeof(inode));
			return inode;
		}
		at += NLA_ALIGN(attribute.nla_len > NLA_HDRLEN
					? attribute.nla_len
					: NLA_HDRLEN);
	}
	return 0;
}

/* unix(7) sockets are listed by inode; a cookie of ones is any. */
static uint64_t ask_peer(uint64_t inode)
{
	struct question question = {
		.head = { .nlmsg_len = sizeof(question),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.request = { .sdiag_family = UNIX,
			     .udiag_states = UINT32_MAX,
			     .udiag_ino = (uint32_t)inode,
			     .udiag_show = UDIAG_SHOW_PEER,
			     .udiag_cookie = { UINT32_MAX, UINT32_MAX } },
	};
	unsigned char answer[512];
	uint64_t peer = 0;
	Word fd, size;

	fd = call(__NR_socket, NETLINK, RAW | CLOEXEC, NETLINK_SOCK_DIAG, 0, 0);
	if (fd < 0)
		return 0;
	if (call(__NR_write, (UWord)fd, (UWord)&question, sizeof(question), 0,
		 0) == sizeof(question)) {
		size = call(__NR_read, (UWord)fd, (UWord)answer, sizeof(answer),
			    0, 0);
		peer = size > 0 ? read_peer(answer, (size_t)size) : 0;
	}
	call(__NR_close, (UWord)fd, 0, 0, 0, 0);
	return peer;
}

static bool identify_unix(struct channels *channels, int fd, uint64_t inode,
			  bool receives, struct trace_channel *ret)
{
	uint64_t peer = channels_connected(channels, inode);

	if (peer == 0) {
		peer = ask_peer(inode);
		if (peer != 0)
			channels_connect(channels, inode, peer);
	}
	ret->kind = socket_option(fd, TYPE) == STREAM ? TRACE_STREAM_UNIX
						      : TRACE_PACKET_UNIX;
	ret->where[0] = receives ? peer : inode;
	return peer != 0;
}

static bool identify_socket(struct channels *channels, int fd, uint64_t inode,
			    bool receives, struct trace_channel *ret)
{
	switch (socket_option(fd, DOMAIN)) {
	case UNIX:
		return identify_unix(channels, fd, inode, receives, ret);
	case INET:
	case INET6:
		return socket_option(fd, PROTOCOL) == TCP &&
		       identify_tcp(fd, receives, ret);
	default:
		return false;
	}
}

static bool identify(struct channels *channels, int fd, bool receives,
		     struct trace_channel *ret)
{
	struct vg_stat status;

	if (VG_(fstat)(fd, &status) != 0)
		return false;
	if (VKI_S_ISSOCK(status.mode))
		return identify_socket(channels, fd, status.ino, receives, ret);
	if (!VKI_S_ISFIFO(status.mode) && !VKI_S_ISREG(status.mode))
		return false;
	ret->kind = VKI_S_ISREG(status.mode) ? TRACE_FILE : TRACE_PIPE;
	ret->where[0] = status.dev;
	ret->where[1] = status.ino;
	return true;
}

static bool position_of(int fd, uint64_t *ret)
{
	OffT position = VG_(lseek)(fd, 0, VKI_SEEK_CUR);

	*ret = (uint64_t)position;
	return position >= 0;
}

const struct moves_host endpoints = {
	.readable = is_readable,
	.identify = identify,
	.position = position_of,
};

void endpoints_pair(struct channels *channels, const int fds[2])
{
	struct vg_stat first, second;

	if (VG_(fstat)(fds[0], &first) == 0 && VG_(fstat)(fds[1], &second) == 0)
		channels_connect(channels, first.ino, second.ino);
}
