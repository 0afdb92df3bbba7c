/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ELF files as checked bytes and headers; see elffile.h.
 */
#include "image/elffile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

/*
 * Up to this a file is copied: enough for what developers rebuild under a
 * running program, little enough for hundreds of libraries. Of one that is
 * installed, less is: the C library and its debug file would be a third of the
 * work of a short run.
 */
enum { READ_LIMIT = 4 << 20, READ_INSTALLED_LIMIT = 1 << 20 };

enum { SECTION_NAME_MAX = 4096 };

/* Longer names than compilers make, also of C++ templates. */
enum { STRING_MAX = 64 << 10 };

/* Seconds: more than the times of a file system are apart. */
enum { SETTLED_S = 3 };

/* As the kernel has it: all of them are looked at for each address. */
enum { SEGMENTS_MAX = 65536 / sizeof(Elf64_Phdr) };

const uint8_t *elffile_range(const struct elffile *file, uint64_t offset,
			     uint64_t size)
{
	if (!file->bytes || offset > file->size || size > file->size - offset)
		return NULL;
	return file->bytes + offset;
}

static struct error *bad_file(const char *name, const char *what)
{
	return error_create(ERROR_FORMAT, "%s: %s", name, what);
}

/* As much of [offset, offset + size) as can be had; errno: why not all, or 0. */
static size_t read_fully(int fd, void *buffer, uint64_t offset, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (uint8_t *)buffer + done, size - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = 0;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* Copy size bytes of the file, whether they have been read or not. */
static bool copy_bytes(const struct elffile *file, uint64_t offset, size_t size,
		       void *ret)
{
	const uint8_t *bytes = elffile_range(file, offset, size);

	if (bytes) {
		memcpy(ret, bytes, size);
		return true;
	}
	return !file->bytes && offset <= file->size &&
	       size <= file->size - offset &&
	       read_fully(file->fd, ret, offset, size) == size;
}

static struct error *check_header(struct elffile *file, const char *name)
{
	Elf64_Ehdr *header = &file->header;
	char magic[SELFMAG];

	if (!copy_bytes(file, 0, SELFMAG, magic) ||
	    memcmp(magic, ELFMAG, SELFMAG) != 0)
		return bad_file(name, "not an ELF file");
	if (!copy_bytes(file, 0, sizeof(*header), header))
		return bad_file(name, "truncated: the ELF header is cut off");
	if (header->e_ident[EI_CLASS] == ELFCLASS32)
		return bad_file(name, "a 32-bit program; only x86-64 is known");
	if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != EM_X86_64)
		return bad_file(name, "not made for x86-64");
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return bad_file(name,
				"neither an executable nor a shared object");
	return NULL;
}

/* Drop what overflows, cut what lies outside the file. */
static void sanitize_segment(const struct elffile *file, Elf64_Phdr *segment)
{
	if (segment->p_vaddr + segment->p_memsz < segment->p_vaddr ||
	    segment->p_vaddr + segment->p_memsz > UINT64_MAX / 2) {
		segment->p_type = PT_NULL;
		segment->p_filesz = 0;
	}
	/* also the ordinary case of a separate debug file */
	if (segment->p_offset > file->size) {
		segment->p_offset = 0;
		segment->p_filesz = 0;
	}
	if (segment->p_filesz > segment->p_memsz)
		segment->p_filesz = segment->p_memsz;
	if (segment->p_filesz > file->size - segment->p_offset)
		segment->p_filesz = file->size - segment->p_offset;
}

static const char bad_headers[] = "corrupt or truncated: bad program headers";

static struct error *load_segments(struct elffile *file, const char *name)
{
	size_t count = file->header.e_phnum;
	bool loads = false;

	if (count == PN_XNUM)
		count = file->section_count > 0 ? file->sections[0].sh_info : 0;
	if (count > SEGMENTS_MAX || count > file->size / sizeof(Elf64_Phdr) ||
	    file->header.e_phentsize != sizeof(Elf64_Phdr))
		return bad_file(name, bad_headers);
	file->segments = calloc(count + 1, sizeof(Elf64_Phdr));
	if (!file->segments)
		return error_nomem;
	if (!copy_bytes(file, file->header.e_phoff, count * sizeof(Elf64_Phdr),
			file->segments))
		return bad_file(name, bad_headers);
	file->segment_count = count;
	for (size_t i = 0; i < count; i++) {
		sanitize_segment(file, &file->segments[i]);
		loads |= file->segments[i].p_type == PT_LOAD;
	}
	return loads ? NULL : bad_file(name, "corrupt: it loads nothing");
}

/* A file without a usable section table simply has no sections. */
static struct error *load_sections(struct elffile *file)
{
	size_t count = file->header.e_shnum;
	Elf64_Shdr first;

	if (file->header.e_shoff == 0 ||
	    file->header.e_shentsize != sizeof(Elf64_Shdr) ||
	    !copy_bytes(file, file->header.e_shoff, sizeof(first), &first))
		return NULL;
	if (count == 0)
		count = first.sh_size;
	if (count > file->size / sizeof(Elf64_Shdr))
		return NULL;
	file->sections = calloc(count + 1, sizeof(Elf64_Shdr));
	if (!file->sections)
		return error_nomem;
	if (copy_bytes(file, file->header.e_shoff, count * sizeof(Elf64_Shdr),
		       file->sections))
		file->section_count = count;
	return NULL;
}

/* Consumes file on failure. */
static struct error *parse(struct elffile *file, const char *name,
			   struct elffile **ret)
{
	struct error *err = check_header(file, name);

	if (!err)
		err = load_sections(file);
	if (!err)
		err = load_segments(file, name);
	if (err) {
		elffile_close(file);
		return err;
	}
	*ret = file;
	return NULL;
}

static struct error *map_whole(const char *name, struct elffile *file)
{
	void *bytes =
		mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, file->fd, 0);

	if (bytes == MAP_FAILED)
		return error_os(errno, "%s", name);
	file->bytes = bytes;
	return NULL;
}

/*
 * Files that wait to be read are open: where a quarter of what may be open is,
 * they do not wait.
 */
static bool may_wait(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	       (rlim_t)fd < limit.rlim_cur / 4;
}

/* By package managers, which put another file in its place and write to none. */
static bool is_installed(const char *name)
{
	static const char *const folders[] = { "/usr/lib/",   "/usr/lib64/",
					       "/usr/lib32/", "/lib/",
					       "/lib64/",     "/lib32/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (strncmp(name, folders[i], strlen(folders[i])) == 0)
			return true;
	}
	return false;
}

static bool is_to_be_mapped(const struct elffile *file, const char *name)
{
	return file->size > READ_LIMIT ||
	       (file->size > READ_INSTALLED_LIMIT && is_installed(name) &&
		may_wait(file->fd));
}

static struct file_stamp stamp_of(const struct stat *st)
{
	return (struct file_stamp){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.written_s = st->st_mtim.tv_sec,
		.written_ns = st->st_mtim.tv_nsec,
		.changed_s = st->st_ctim.tv_sec,
		.changed_ns = st->st_ctim.tv_nsec,
	};
}

static struct error *load_bytes(const char *name, struct elffile *file)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return error_os(errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return bad_file(name, "not a regular file");
	if (st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return bad_file(name, "not an ELF file");
	file->size = (size_t)st.st_size;
	file->written = st.st_mtim;
	file->stamp = stamp_of(&st);
	file->settled = time(NULL) - st.st_ctim.tv_sec >= SETTLED_S;
	if (is_to_be_mapped(file, name))
		return map_whole(name, file);
	return may_wait(file->fd) ? NULL : elffile_read(file, name);
}

static bool is_rewritten(const struct elffile *file)
{
	struct stat st;

	return fstat(file->fd, &st) < 0 || (size_t)st.st_size != file->size ||
	       st.st_mtim.tv_sec != file->written.tv_sec ||
	       st.st_mtim.tv_nsec != file->written.tv_nsec;
}

struct error *elffile_read(struct elffile *file, const char *name)
{
	struct error *err = NULL;

	if (file->bytes || file->fd < 0)
		return NULL;
	file->bytes = malloc(file->size);
	if (!file->bytes)
		return error_nomem;
	/* looked at last: it may be written to meanwhile */
	if (read_fully(file->fd, file->bytes, 0, file->size) < file->size)
		err = errno ? error_os(errno, "%s", name)
			    : bad_file(name, "truncated since it was opened");
	else if (is_rewritten(file))
		err = bad_file(name, "written to since it was opened");
	if (err) {
		free(file->bytes);
		file->bytes = NULL;
	}
	close(file->fd);
	file->fd = -1;
	return err;
}

static struct elffile *elffile_new(void)
{
	struct elffile *file = calloc(1, sizeof(*file));

	if (file)
		file->fd = -1;
	return file;
}

struct error *elffile_open(int fd, const char *name, struct elffile **ret)
{
	struct elffile *file = elffile_new();
	struct error *err;

	if (!file) {
		close(fd);
		return error_nomem;
	}
	file->fd = fd;
	err = load_bytes(name, file);
	if (err) {
		elffile_close(file);
		return err;
	}
	return parse(file, name, ret);
}

struct error *elffile_create_copy(const void *bytes, size_t size,
				  const char *name, struct elffile **ret)
{
	struct elffile *file = elffile_new();

	if (!file)
		return error_nomem;
	file->bytes = malloc(size ? size : 1);
	if (!file->bytes) {
		elffile_close(file);
		return error_nomem;
	}
	if (size)
		memcpy(file->bytes, bytes, size);
	file->size = size;
	return parse(file, name, ret);
}

void elffile_close(struct elffile *file)
{
	if (!file)
		return;
	if (file->fd >= 0) {
		if (file->bytes)
			munmap(file->bytes, file->size);
		close(file->fd);
	} else {
		free(file->bytes);
	}
	free(file->segments);
	free(file->sections);
	free(file);
}

bool elffile_intact(struct elffile *file)
{
	uint64_t now;
	struct stat st;

	if (file->fd < 0 || !file->bytes)
		return true;
	now = clock_now_ns();
	if (file->intact_ns != 0 && now - file->intact_ns < CLOCK_NS_PER_MS)
		return true;
	if (fstat(file->fd, &st) < 0 || (size_t)st.st_size < file->size)
		return false;
	file->intact_ns = now;
	return true;
}

bool elffile_at(const struct elffile *file, uint64_t address,
		struct elf_span *ret)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t skip = address - segment->p_vaddr;

		if (!file->bytes || segment->p_type != PT_LOAD ||
		    skip >= segment->p_filesz)
			continue;
		ret->bytes = file->bytes + segment->p_offset + skip;
		ret->address = address;
		ret->size = segment->p_filesz - skip;
		return true;
	}
	return false;
}

uint64_t elffile_exec_end(const struct elffile *file, uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
		    address - segment->p_vaddr < segment->p_filesz)
			return segment->p_vaddr + segment->p_filesz;
	}
	return 0;
}

static const char *section_name(const struct elffile *file,
				const Elf64_Shdr *section)
{
	size_t index = file->header.e_shstrndx;
	struct elf_span names;

	if (index == SHN_XINDEX && file->section_count > 0)
		index = file->sections[0].sh_link;
	if (index >= file->section_count ||
	    !elffile_contents(file, &file->sections[index], &names))
		return NULL;
	/* not to the end of a large one for each of many sections */
	if (section->sh_name < names.size &&
	    names.size - section->sh_name > SECTION_NAME_MAX)
		names.size = section->sh_name + SECTION_NAME_MAX;
	return elf_string(&names, section->sh_name);
}

const Elf64_Shdr *elffile_section(const struct elffile *file, const char *name,
				  size_t *index)
{
	while (*index < file->section_count) {
		const Elf64_Shdr *section = &file->sections[(*index)++];
		const char *its_name = section_name(file, section);

		if (its_name && strcmp(its_name, name) == 0)
			return section;
	}
	return NULL;
}

const Elf64_Shdr *elffile_section_type(const struct elffile *file,
				       uint32_t type)
{
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].sh_type == type)
			return &file->sections[i];
	}
	return NULL;
}

bool elffile_contents(const struct elffile *file, const Elf64_Shdr *section,
		      struct elf_span *ret)
{
	const uint8_t *bytes;

	if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL ||
	    (section->sh_flags & SHF_COMPRESSED))
		return false;
	bytes = elffile_range(file, section->sh_offset, section->sh_size);
	if (!bytes)
		return false;
	ret->bytes = bytes;
	ret->address = section->sh_addr;
	ret->size = section->sh_size;
	return true;
}

const Elf64_Phdr *elffile_segment_type(const struct elffile *file,
				       uint32_t type)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		if (file->segments[i].p_type == type)
			return &file->segments[i];
	}
	return NULL;
}

bool elffile_dynamic(const struct elffile *file, int64_t tag, uint64_t *ret)
{
	const Elf64_Phdr *segment = elffile_segment_type(file, PT_DYNAMIC);
	Elf64_Dyn entry;

	if (!segment || !file->bytes)
		return false;
	for (uint64_t at = 0; at + sizeof(entry) <= segment->p_filesz;
	     at += sizeof(entry)) {
		memcpy(&entry, file->bytes + segment->p_offset + at,
		       sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == tag) {
			*ret = entry.d_un.d_val;
			return true;
		}
	}
	return false;
}

const char *elf_string(const struct elf_span *table, uint64_t offset)
{
	uint64_t size;

	if (offset >= table->size)
		return NULL;
	/* each of many symbols may have the same long name */
	size = table->size - offset;
	if (!memchr(table->bytes + offset, '\0',
		    size < STRING_MAX ? size : STRING_MAX))
		return NULL;
	return (const char *)table->bytes + offset;
}

/* Look through one note segment or section (elf(5), "Notes"). */
static const uint8_t *notes_build_id(const struct elf_span *notes,
				     size_t *ret_size)
{
	uint64_t at = 0;
	Elf64_Nhdr note;

	while (at <= notes->size && notes->size - at >= sizeof(note)) {
		uint64_t name;
		uint64_t contents;

		memcpy(&note, notes->bytes + at, sizeof(note));
		name = at + sizeof(note);
		contents = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		at = contents + ((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (contents + note.n_descsz > notes->size)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    note.n_descsz > 0 &&
		    memcmp(notes->bytes + name, "GNU", 4) == 0) {
			*ret_size = note.n_descsz;
			return notes->bytes + contents;
		}
	}
	return NULL;
}

const uint8_t *elffile_build_id(const struct elffile *file, size_t *ret_size)
{
	const uint8_t *id = NULL;
	struct elf_span notes;

	/* sections first: the segments of a debug file have no contents */
	for (size_t i = 0; i < file->section_count && !id; i++) {
		if (file->sections[i].sh_type == SHT_NOTE &&
		    elffile_contents(file, &file->sections[i], &notes))
			id = notes_build_id(&notes, ret_size);
	}
	for (size_t i = 0; i < file->segment_count && !id; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type != PT_NOTE || !file->bytes)
			continue;
		notes.bytes = file->bytes + segment->p_offset;
		notes.size = segment->p_filesz;
		id = notes_build_id(&notes, ret_size);
	}
	return id;
}
