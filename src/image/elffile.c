/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ELF files as checked bytes and headers; see elffile.h.
 */
#include "image/elffile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/truncated.h"

/*
 * Up to this a file is copied: enough for what developers rebuild under a
 * running program, little enough for hundreds of libraries. Of one that is
 * installed, less is: the C library and its debug file would be a third of the
 * work of a short run.
 */
enum { READ_LIMIT = 4 << 20, READ_INSTALLED_LIMIT = 1 << 20 };

/* Longer names than compilers make, also of C++ templates. */
enum { STRING_MAX = 64 << 10 };

/* Seconds: more than the times of a file system are apart. */
enum { SETTLED_S = 3 };

/* As the kernel has it: all of them are looked at for each address. */
enum { SEGMENTS_MAX = 65536 / sizeof(Elf64_Phdr) };

static const char bad_headers[] = "corrupt or truncated: bad program headers";

static struct error *bad_file(const char *name, const char *what)
{
	return error_create(ERROR_FORMAT, "%s: %s", name, what);
}

/* Of a call that left errno as it was, unless a system call failed. */
static struct error *libelf_error(const char *name)
{
	return errno == ENOMEM ? error_nomem : bad_file(name, elf_errmsg(-1));
}

static struct error *check_header(struct elffile *file, const char *name)
{
	GElf_Ehdr header;

	if (elf_kind(file->elf) != ELF_K_ELF ||
	    !gelf_getehdr(file->elf, &header))
		return bad_file(name, "not an ELF file, or its header is "
				      "damaged");
	if (header.e_ident[EI_CLASS] == ELFCLASS32)
		return bad_file(name, "a 32-bit program; only x86-64 is known");
	if (header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != EM_X86_64)
		return bad_file(name, "not made for x86-64");
	file->fixed = header.e_type == ET_EXEC;
	if (!file->fixed && header.e_type != ET_DYN)
		return bad_file(name,
				"neither an executable nor a shared object");
	/* libelf takes this for granted */
	if (header.e_phentsize != sizeof(Elf64_Phdr))
		return bad_file(name, bad_headers);
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

static struct error *load_segments(struct elffile *file, const char *name)
{
	bool loads = false;
	size_t count;

	if (elf_getphdrnum(file->elf, &count) != 0 || count > SEGMENTS_MAX)
		return bad_file(name, bad_headers);
	file->segments = calloc(count + 1, sizeof(*file->segments));
	if (!file->segments)
		return error_nomem;
	file->segment_count = count;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &file->segments[i]))
			return bad_file(name, bad_headers);
		sanitize_segment(file, &file->segments[i]);
		loads |= file->segments[i].p_type == PT_LOAD;
	}
	return loads ? NULL : bad_file(name, "corrupt: it loads nothing");
}

static struct error *load_headers(struct elffile *file, const char *name)
{
	struct error *err = check_header(file, name);

	return err ? err : load_segments(file, name);
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

struct file_stamp file_stamp_of(const struct stat *status)
{
	return (struct file_stamp){
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = (uint64_t)status->st_size,
		.written_s = status->st_mtim.tv_sec,
		.written_ns = status->st_mtim.tv_nsec,
		.changed_s = status->st_ctim.tv_sec,
		.changed_ns = status->st_ctim.tv_nsec,
	};
}

bool file_stamp_same(const struct file_stamp *one, const struct file_stamp *two)
{
	return one->device == two->device && one->inode == two->inode &&
	       one->size == two->size && one->written_s == two->written_s &&
	       one->written_ns == two->written_ns &&
	       one->changed_s == two->changed_s &&
	       one->changed_ns == two->changed_ns;
}

static struct error *look_at_file(struct elffile *file, const char *name)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return error_os(errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return bad_file(name, "not a regular file");
	file->size = (size_t)st.st_size;
	file->stamp = file_stamp_of(&st);
	file->settled = time(NULL) - st.st_ctim.tv_sec >= SETTLED_S;
	return NULL;
}

static bool is_rewritten(const struct elffile *file)
{
	struct file_stamp now;
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return true;
	now = file_stamp_of(&st);
	return now.size != file->stamp.size ||
	       now.written_s != file->stamp.written_s ||
	       now.written_ns != file->stamp.written_ns;
}

/*
 * Libelf would decompress the section of names, and in one that does not end
 * with a NUL look for one once for each section.
 */
static void find_names(struct elffile *file)
{
	struct elf_span names;
	size_t index;

	if (elf_getshdrstrndx(file->elf, &index) == 0 &&
	    elffile_contents(file, elf_getscn(file->elf, index), &names) &&
	    names.bytes[names.size - 1] == '\0')
		file->names = index;
}

/* All the contents, which libelf reads unless it has mapped them. */
static struct error *take_bytes(struct elffile *file, const char *name)
{
	uint8_t *bytes;
	size_t size;

	errno = 0;
	bytes = (uint8_t *)elf_rawfile(file->elf, &size);
	if (!bytes && errno && errno != ENOMEM)
		return error_os(errno, "%s", name);
	if (!bytes)
		return libelf_error(name);
	if (size != file->size)
		return bad_file(name, "written to since it was opened");
	file->bytes = bytes;
	find_names(file);
	return NULL;
}

struct error *elffile_read(struct elffile *file, const char *name)
{
	struct error *err;

	if (file->bytes || file->fd < 0)
		return NULL;
	err = take_bytes(file, name);
	if (err == error_nomem)
		return err;
	/* looked at last: it may be written to meanwhile */
	if (is_rewritten(file)) {
		error_free(err);
		err = bad_file(name, "written to since it was opened");
		file->bytes = NULL;
		file->names = 0;
	}
	elf_cntl(file->elf, ELF_C_FDDONE);
	close(file->fd);
	file->fd = -1;
	return err;
}

/* The headers, and of a large file the contents. */
static struct error *begin(struct elffile *file, const char *name)
{
	struct error *err = look_at_file(file, name);
	bool maps;

	if (err)
		return err;
	maps = is_to_be_mapped(file, name);
	errno = 0;
	file->elf =
		elf_begin(file->fd, maps ? ELF_C_READ_MMAP : ELF_C_READ, NULL);
	if (!file->elf)
		return libelf_error(name);
	err = load_headers(file, name);
	if (!err && maps)
		err = take_bytes(file, name);
	if (!err && !may_wait(file->fd))
		err = elffile_read(file, name);
	return err;
}

static struct elffile *elffile_new(void)
{
	struct elffile *file = calloc(1, sizeof(*file));

	if (file)
		*file = (struct elffile){ .fd = -1,
					  .fills = truncated_fills() };
	elf_version(EV_CURRENT);
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
	err = begin(file, name);
	if (err) {
		elffile_close(file);
		return err;
	}
	*ret = file;
	return NULL;
}

struct error *elffile_create_copy(const void *bytes, size_t size,
				  const char *name, struct elffile **ret)
{
	struct elffile *file = elffile_new();
	struct error *err = error_nomem;

	if (!file)
		return err;
	file->size = size;
	file->copy = malloc(size ? size : 1);
	if (file->copy) {
		if (size)
			memcpy(file->copy, bytes, size);
		file->bytes = file->copy;
		errno = 0;
		file->elf = elf_memory(file->copy, size);
		err = file->elf ? load_headers(file, name) : libelf_error(name);
		find_names(file);
	}
	if (err) {
		elffile_close(file);
		return err;
	}
	*ret = file;
	return NULL;
}

void elffile_close(struct elffile *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->copy);
	free(file->segments);
	free(file);
}

bool elffile_intact(struct elffile *file)
{
	unsigned int fills = truncated_fills();
	uint64_t now;
	struct stat st;

	if (file->fd < 0 || !file->bytes)
		return true;
	/* one of the files that are mapped was truncated: this one? */
	if (fills != file->fills && is_rewritten(file))
		return false;
	file->fills = fills;
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

const char *elffile_section_name(const struct elffile *file, Elf_Scn *section)
{
	GElf_Shdr header;

	return file->names && gelf_getshdr(section, &header)
		       ? elf_strptr(file->elf, file->names, header.sh_name)
		       : NULL;
}

Elf_Scn *elffile_section(const struct elffile *file, const char *name,
			 Elf_Scn *after)
{
	while ((after = elf_nextscn(file->elf, after))) {
		const char *its_name = elffile_section_name(file, after);

		if (its_name && strcmp(its_name, name) == 0)
			break;
	}
	return after;
}

Elf_Scn *elffile_section_type(const struct elffile *file, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			break;
	}
	return section;
}

bool elffile_contents(const struct elffile *file, Elf_Scn *section,
		      struct elf_span *ret)
{
	const Elf_Data *data;
	GElf_Shdr header;

	if (!file->bytes || !gelf_getshdr(section, &header) ||
	    (header.sh_flags & SHF_COMPRESSED))
		return false;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return false;
	*ret = (struct elf_span){ data->d_buf, header.sh_addr, data->d_size };
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
	Elf_Data *data;
	GElf_Dyn entry;

	if (!segment || !file->bytes)
		return false;
	data = elf_getdata_rawchunk(file->elf, (int64_t)segment->p_offset,
				    segment->p_filesz, ELF_T_DYN);
	for (int i = 0; gelf_getdyn(data, i, &entry); i++) {
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

static const uint8_t *segment_build_id(const struct elffile *file,
				       const Elf64_Phdr *segment,
				       size_t *ret_size)
{
	Elf_Data *data = elf_getdata_rawchunk(
		file->elf, (int64_t)segment->p_offset, segment->p_filesz,
		segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, text;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &text)) > 0) {
		const uint8_t *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(bytes + name, "GNU", 4) != 0)
			continue;
		*ret_size = note.n_descsz;
		return bytes + text;
	}
	return NULL;
}

const uint8_t *elffile_build_id(const struct elffile *file, size_t *ret_size)
{
	const void *id;
	ssize_t size = 0;

	if (file->bytes)
		size = dwelf_elf_gnu_build_id(file->elf, &id);
	if (size > 0) {
		*ret_size = (size_t)size;
		return id;
	}
	/* of a file with sections it has looked at those alone */
	for (size_t i = 0; file->bytes && i < file->segment_count; i++) {
		if (file->segments[i].p_type != PT_NOTE)
			continue;
		id = segment_build_id(file, &file->segments[i], ret_size);
		if (id)
			return id;
	}
	return NULL;
}
