/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command before it is run; see program.h. The file may change before the
 * kernel reads it: nothing here is relied upon, it only makes messages better.
 */
#include "doctor/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

static struct error *program_refuse(int code, const char *path)
{
	struct error *err;

	if (code == ENOENT || code == ENOTDIR)
		return error_create(ERROR_NOT_FOUND, "%s: command not found",
				    path);
	err = error_os(code, "%s", path);
	if (err->kind == ERROR_OTHER)
		err->kind = ERROR_CANNOT_RUN;
	return err;
}

/* Can this file be executed? 0 or an errno. */
static int program_check(const char *path, struct stat *ret)
{
	if (stat(path, ret) < 0)
		return errno;
	if (S_ISDIR(ret->st_mode))
		return EISDIR;
	if (!S_ISREG(ret->st_mode))
		return EACCES;
	return access(path, X_OK) < 0 ? errno : 0;
}

/* Look through PATH; an unfit file is remembered in case no fit one comes. */
static struct error *program_search(const char *command, char **ret,
				    struct stat *status)
{
	const char *paths = getenv("PATH");
	int code = ENOENT;

	if (!paths)
		paths = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t length = strcspn(paths, ":");
		struct strbuf path = { 0 };
		int failed;

		if (length > 0) {
			strbuf_add_bytes(&path, paths, length);
			strbuf_add(&path, "/");
		}
		strbuf_add(&path, command);
		if (path.failed) {
			strbuf_deinit(&path);
			return error_nomem;
		}
		failed = program_check(strbuf_text(&path), status);
		if (failed == 0) {
			*ret = strbuf_steal(&path);
			return *ret ? NULL : error_nomem;
		}
		if (failed != ENOENT && failed != ENOTDIR)
			code = failed;
		strbuf_deinit(&path);
		if (paths[length] == '\0')
			break;
		paths += length + 1;
	}
	return program_refuse(code, command);
}

static struct error *program_find(const char *command, char **ret,
				  struct stat *status)
{
	int code;

	if (*command == '\0')
		return program_refuse(ENOENT, "''");
	if (!strchr(command, '/'))
		return program_search(command, ret, status);
	code = program_check(command, status);
	if (code)
		return program_refuse(code, command);
	*ret = strdup(command);
	return *ret ? NULL : error_nomem;
}

static struct error *program_script(const char *path, const char *line,
				    size_t size, char **ret)
{
	const char *from = line + 2;
	const char *end = line + size;
	size_t length;

	while (from < end && (*from == ' ' || *from == '\t'))
		from++;
	for (length = 0; from + length < end; length++) {
		if (strchr(" \t\n", from[length]))
			break;
	}
	*ret = strndup(from, length);
	if (!*ret)
		return error_nomem;
	if (length > 0 && access(*ret, X_OK) < 0)
		return error_create(ERROR_CANNOT_RUN,
				    "%s: its interpreter %s: %s", path, *ret,
				    strerror(errno));
	return NULL;
}

static const char *machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_386:
		return "x86";
	case EM_X86_64:
		return "x32";
	case EM_AARCH64:
		return "AArch64";
	case EM_ARM:
		return "ARM";
	case EM_RISCV:
		return "RISC-V";
	case EM_PPC64:
		return "PowerPC";
	case EM_S390:
		return "S/390";
	default:
		return "another machine";
	}
}

static struct error *program_elf(const char *path, int fd,
				 const Elf64_Ehdr *header, size_t size,
				 bool *ret_static)
{
	bool dynamic = false;

	if (size < sizeof(*header))
		return error_create(ERROR_CANNOT_RUN,
				    "%s: an ELF file cut short", path);
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return error_create(ERROR_CANNOT_RUN,
				    "%s: a 32-bit program (%s); 32-bit "
				    "programs are not supported: build it for "
				    "x86-64",
				    path, machine_name(header->e_machine));
	if (header->e_machine != EM_X86_64)
		return error_create(
			ERROR_CANNOT_RUN,
			"%s: a program for %s; only x86-64 programs "
			"can be watched: build it for x86-64",
			path, machine_name(header->e_machine));
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return error_create(ERROR_CANNOT_RUN,
				    "%s: an ELF file, but not a program (an "
				    "object file or a core dump?)",
				    path);
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr phdr;
		off_t at = (off_t)(header->e_phoff + i * sizeof(phdr));

		if (pread(fd, &phdr, sizeof(phdr), at) != sizeof(phdr))
			break;
		dynamic |= phdr.p_type == PT_INTERP;
	}
	*ret_static = !dynamic;
	return NULL;
}

static struct error *program_look(struct program *program)
{
	union {
		char text[256];
		Elf64_Ehdr elf;
	} head;
	cleanup_close int fd = open(program->path, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	/* executable but not readable: the kernel can, so go on */
	if (fd < 0)
		return NULL;
	size = pread(fd, &head, sizeof(head), 0);
	if (size < 0)
		return program_refuse(errno, program->path);
	if (size >= 2 && memcmp(head.text, "#!", 2) == 0)
		return program_script(program->path, head.text, (size_t)size,
				      &program->interpreter);
	if (size >= SELFMAG && memcmp(head.text, ELFMAG, SELFMAG) == 0)
		return program_elf(program->path, fd, &head.elf, (size_t)size,
				   &program->is_static);
	return error_create(ERROR_CANNOT_RUN,
			    "%s: neither an ELF program nor a script that "
			    "begins with '#!'",
			    program->path);
}

struct error *program_inspect(const char *command, struct program *ret)
{
	struct program program = { .path = NULL };
	struct stat status;
	struct error *err = program_find(command, &program.path, &status);

	if (err)
		return err;
	err = program_look(&program);
	if (err) {
		program_deinit(&program);
		return err;
	}
	program.privileged =
		(status.st_mode & (S_ISUID | S_ISGID)) ||
		getxattr(program.path, "security.capability", NULL, 0) > 0;
	*ret = program;
	return NULL;
}

void program_deinit(struct program *program)
{
	free(program->path);
	free(program->interpreter);
	program->path = NULL;
	program->interpreter = NULL;
}
