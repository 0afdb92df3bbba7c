/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Zeros in place of the lost part of a mapped file; see truncated.h. Only what a
 * signal handler may call is called: no memory is allocated.
 */
#include "base/truncated.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Counted by a signal handler, which nobody can give an object to. */
static volatile sig_atomic_t fills;

/* A line of /proc/self/maps, as far as is needed. */
struct truncated_mapping {
	uintptr_t start, end;
	bool writable, private;
	uint64_t inode; /* 0: of no file */
};

/* Bytes of a file in turn. */
struct truncated_reader {
	int fd;
	size_t at, count;
	char bytes[1024];
};

/* The next byte; -1 at the end. */
static int next_byte(struct truncated_reader *reader)
{
	if (reader->at == reader->count) {
		ssize_t count;

		do {
			count = read(reader->fd, reader->bytes,
				     sizeof(reader->bytes));
		} while (count < 0 && errno == EINTR);
		if (count <= 0)
			return -1;
		reader->count = (size_t)count;
		reader->at = 0;
	}
	return (unsigned char)reader->bytes[reader->at++];
}

static int digit_of(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* A number and the byte after it. */
static uint64_t next_number(struct truncated_reader *reader, unsigned int base)
{
	uint64_t number = 0;
	int digit;

	while ((digit = digit_of(next_byte(reader))) >= 0)
		number = number * base + (unsigned int)digit;
	return number;
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE", then maybe a path. */
static bool next_mapping(struct truncated_reader *reader,
			 struct truncated_mapping *ret)
{
	int byte;

	ret->start = next_number(reader, 16);
	ret->end = next_number(reader, 16);
	next_byte(reader);
	ret->writable = next_byte(reader) == 'w';
	next_byte(reader);
	ret->private = next_byte(reader) == 'p';
	next_byte(reader);
	next_number(reader, 16);
	next_number(reader, 16);
	next_number(reader, 16);
	ret->inode = next_number(reader, 10);
	do {
		byte = next_byte(reader);
	} while (byte >= 0 && byte != '\n');
	return byte == '\n';
}

static bool find_mapping(uintptr_t address, struct truncated_mapping *ret)
{
	struct truncated_reader reader = {
		.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC),
	};
	bool found = false;

	if (reader.fd < 0)
		return false;
	while (!found && next_mapping(&reader, ret))
		found = address >= ret->start && address < ret->end;
	close(reader.fd);
	return found;
}

static int holds(struct dl_phdr_info *object, size_t size, void *data)
{
	uintptr_t address = *(const uintptr_t *)data;

	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    address - (object->dlpi_addr + segment->p_vaddr) <
			    segment->p_memsz)
			return 1;
	}
	return 0;
}

static bool fill_from(uintptr_t address)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct truncated_mapping mapping;
	int protection = PROT_READ;

	if (dl_iterate_phdr(holds, &address) != 0 ||
	    !find_mapping(address, &mapping) || !mapping.private ||
	    mapping.inode == 0)
		return false;
	address &= ~(page - 1);
	if (mapping.writable)
		protection |= PROT_WRITE;
	return mmap((void *)address, mapping.end - address, protection,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
		    0) != MAP_FAILED;
}

bool truncated_fill(const siginfo_t *info)
{
	int before = errno;
	bool filled = info->si_code == BUS_ADRERR &&
		      fill_from((uintptr_t)info->si_addr);

	if (filled)
		fills++;
	errno = before;
	return filled;
}

unsigned int truncated_fills(void)
{
	return (unsigned int)fills;
}
