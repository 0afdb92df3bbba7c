/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The macros of compilation units; see macros.h.
 */
#include "image/macros.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "image/debuginfo.h"
#include "image/die.h"
#include "image/macrofile.h"
#include "image/sourcetext.h"

enum {
	FILES_MAX = 256, /* of a unit */
	OPENS_MAX = 2048, /* tried for a unit */
	IMPORTS_MAX = 8, /* depth of macro information that has other */
	NAMES_MAX = 1 << 16, /* of a unit that are looked at */
};

/* A file that was looked for. */
struct known_file {
	char *path;
	struct macro_file is;
};

struct unit_macros {
	bool named; /* its debug information has them */
	struct macro_file own; /* these, and functions that it names */
	struct vec files; /* of struct known_file *; each once */
	struct map variables; /* hash of a name -> 1 */
	struct map others; /* hash of a name that is no macro -> kind_of() */
	unsigned int opens;
};

struct macros {
	struct source_texts *sources;
	struct map files; /* hash of the path -> struct known_file *, or 0 */
	struct map units; /* struct debug_unit * -> struct unit_macros * */
};

/* Whom macro_names ask: a unit, and the file where the name stands. */
struct asked {
	struct unit_macros *unit;
	const char *file;
};

struct macros *macros_create(struct source_texts *sources)
{
	struct macros *macros = calloc(1, sizeof(*macros));

	if (macros)
		macros->sources = sources;
	return macros;
}

static void known_file_destroy(struct known_file *file)
{
	if (file) {
		macro_file_deinit(&file->is);
		free(file->path);
	}
	free(file);
}

static void unit_macros_destroy(struct unit_macros *unit)
{
	if (unit) {
		macro_file_deinit(&unit->own);
		vec_deinit(&unit->files);
		map_deinit(&unit->variables);
		map_deinit(&unit->others);
	}
	free(unit);
}

void macros_destroy(struct macros *macros)
{
	uint64_t key, value;
	size_t at = 0;

	if (!macros)
		return;
	while (map_next(&macros->files, &at, &key, &value))
		known_file_destroy((struct known_file *)(uintptr_t)value);
	for (at = 0; map_next(&macros->units, &at, &key, &value);)
		unit_macros_destroy((struct unit_macros *)(uintptr_t)value);
	map_deinit(&macros->files);
	map_deinit(&macros->units);
	free(macros);
}

static struct known_file *file_read(struct macros *macros, const char *path)
{
	struct known_file *file;
	const char *text;
	size_t size;

	if (!source_texts_all(macros->sources, path, &text, &size))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	macro_file_init(&file->is);
	file->path = strdup(path);
	if (file->path && macro_file_read(&file->is, text, size))
		return file;
	known_file_destroy(file);
	return NULL;
}

static struct known_file *file_of(struct macros *macros, const char *path)
{
	uint64_t hash = hash_text(path);
	uint64_t *known = map_get(&macros->files, hash);
	struct known_file *file;

	if (known)
		return (struct known_file *)(uintptr_t)*known;
	file = file_read(macros, path);
	if (map_set(&macros->files, hash, (uint64_t)(uintptr_t)file))
		return file;
	known_file_destroy(file);
	return NULL;
}

/* true: it is one of the unit's now. */
static bool unit_add(struct macros *macros, struct unit_macros *unit,
		     const char *path)
{
	struct known_file *file;

	if (path[0] != '/' || unit->files.count >= FILES_MAX ||
	    unit->opens++ >= OPENS_MAX)
		return false;
	file = file_of(macros, path);
	if (!file)
		return false;
	for (size_t i = 0; i < unit->files.count; i++) {
		if (*(struct known_file **)vec_at(&unit->files, i) == file)
			return true;
	}
	return vec_push(&unit->files, &file);
}

/* FOLDER/NAME, of a folder that may be relative to another; or NULL. */
static char *join(const char *base, const char *folder,
		  const struct ctoken *name)
{
	struct strbuf path = { 0 };

	if (name->size == 0 || name->size > 4096)
		return NULL;
	if (name->text[0] != '/' && folder[0] != '/')
		strbuf_addf(&path, "%s/", base);
	if (name->text[0] != '/')
		strbuf_addf(&path, "%s/", folder);
	strbuf_addf(&path, "%.*s", (int)name->size, name->text);
	return strbuf_steal(&path);
}

static bool unit_add_in(struct macros *macros, struct unit_macros *unit,
			const char *base, const char *folder,
			const struct ctoken *name)
{
	cleanup_free char *path = join(base, folder, name);

	return path && unit_add(macros, unit, path);
}

/* Beside the file, in the folders that the unit names, and in the usual. */
static void unit_include(struct macros *macros, struct unit_macros *unit,
			 Dwarf_Die *die, const char *base, const char *from,
			 const struct macro_include *include)
{
	const char *const *folders;
	const char *slash = strrchr(from, '/');
	Dwarf_Files *files;
	size_t count;

	if (include->quoted && slash) {
		cleanup_free char *folder = strndup(from, slash - from);

		if (folder &&
		    unit_add_in(macros, unit, base, folder, &include->name))
			return;
	}
	if (dwarf_getsrcfiles(die, &files, &count) == 0 &&
	    dwarf_getsrcdirs(files, &folders, &count) == 0) {
		for (size_t i = 0; i < count; i++) {
			if (folders[i] &&
			    unit_add_in(macros, unit, base, folders[i],
					&include->name))
				return;
		}
	}
	if (!unit_add_in(macros, unit, base, "/usr/include", &include->name))
		unit_add_in(macros, unit, base, "/usr/include/x86_64-linux-gnu",
			    &include->name);
}

/* The files of the line table, and what they include, one after the other. */
static void unit_read_files(struct macros *macros, struct unit_macros *unit,
			    Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *base =
		dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attr));
	Dwarf_Files *files;
	size_t count;

	if (!base)
		base = "";
	if (dwarf_getsrcfiles(die, &files, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);
		const struct ctoken name = {
			.text = path,
			.size = path ? strlen(path) : 0,
		};

		if (path)
			unit_add_in(macros, unit, "", base, &name);
	}
	for (size_t i = 0; i < unit->files.count; i++) {
		const struct known_file *file =
			*(struct known_file **)vec_at(&unit->files, i);

		for (size_t j = 0; j < file->is.includes.count; j++)
			unit_include(macros, unit, die, base, file->path,
				     vec_at(&file->is.includes, j));
	}
}

struct reading {
	struct unit_macros *unit;
	Dwarf *dwarf;
	unsigned int depth;
};

static int read_macro(Dwarf_Macro *macro, void *arg)
{
	struct reading *reading = arg;
	const char *text = NULL;
	unsigned int opcode;
	Dwarf_Word offset;

	if (dwarf_macro_opcode(macro, &opcode) != 0)
		return DWARF_CB_ABORT;
	if (opcode == DW_MACRO_import && reading->depth < IMPORTS_MAX &&
	    dwarf_macro_param1(macro, &offset) == 0) {
		reading->depth++;
		dwarf_getmacros_off(reading->dwarf, offset, read_macro, arg,
				    DWARF_GETMACROS_START);
		reading->depth--;
	} else if ((opcode == DW_MACRO_define ||
		    opcode == DW_MACRO_define_strp) &&
		   dwarf_macro_param2(macro, NULL, &text) == 0 && text) {
		if (!macro_file_define(&reading->unit->own, text, strlen(text)))
			return DWARF_CB_ABORT;
	}
	return DWARF_CB_OK;
}

static void unit_read_named(struct unit_macros *unit, Dwarf_Die *die)
{
	struct reading reading = {
		.unit = unit,
		.dwarf = dwarf_cu_getdwarf(die->cu),
	};

	if (!dwarf_hasattr(die, DW_AT_macros) &&
	    !dwarf_hasattr(die, DW_AT_GNU_macros))
		return;
	dwarf_getmacros(die, read_macro, &reading, DWARF_GETMACROS_START);
	unit->named = unit->own.definitions.count > 0;
}

/* Functions and variables, such as pointers to functions. */
static void unit_read_functions(struct unit_macros *unit, Dwarf_Die *die)
{
	struct map *functions = &unit->own.functions;
	struct map *variables = &unit->variables;
	Dwarf_Die child;
	size_t left = NAMES_MAX;

	if (dwarf_child(die, &child) != 0)
		return;
	do {
		const char *name = dwarf_diename(&child);
		struct map *names =
			dwarf_tag(&child) == DW_TAG_subprogram ? functions
			: dwarf_tag(&child) == DW_TAG_variable ? variables
							       : NULL;

		if (name && names && !map_set(names, hash_text(name), 1))
			return;
	} while (--left > 0 && die_next(&child));
}

static struct unit_macros *unit_read(struct macros *macros,
				     struct debug_unit *unit)
{
	struct unit_macros *read = calloc(1, sizeof(*read));

	if (!read)
		return NULL;
	read->files = (struct vec)VEC_INIT(struct known_file *);
	macro_file_init(&read->own);
	unit_read_named(read, &unit->skeleton);
	unit_read_functions(read, &unit->die);
	if (!read->named)
		unit_read_files(macros, read, &unit->skeleton);
	if (map_set(&macros->units, (uint64_t)(uintptr_t)unit,
		    (uint64_t)(uintptr_t)read))
		return read;
	unit_macros_destroy(read);
	return NULL;
}

/* In the file where the name stands, or else in all others. */
static bool find_definition(void *arg, const struct ctoken *name, size_t n,
			    struct macro_definition *ret)
{
	const struct asked *asked = arg;
	const struct vec *files = &asked->unit->files;
	struct macro_definition other;

	if (map_get(&asked->unit->others, hash_bytes(name->text, name->size)))
		return false;
	if (asked->unit->named)
		return macro_file_find(&asked->unit->own, name, n, ret);
	for (size_t i = 0; i < files->count; i++) {
		struct known_file *file =
			*(struct known_file **)vec_at(files, i);

		if (strcmp(file->path, asked->file) == 0 &&
		    macro_file_find(&file->is, name, 0, &other))
			return macro_file_find(&file->is, name, n, ret);
	}
	for (size_t i = 0; i < files->count; i++) {
		struct known_file *file =
			*(struct known_file **)vec_at(files, i);
		size_t skipped = 0;

		if (macro_file_find(&file->is, name, n, ret))
			return true;
		while (macro_file_find(&file->is, name, skipped, &other))
			skipped++;
		n -= skipped;
	}
	return false;
}

/* Macro information is complete: what it does not have is no macro. */
static enum macro_kind kind_of(void *arg, const struct ctoken *name)
{
	const struct asked *asked = arg;
	const struct vec *files = &asked->unit->files;
	uint64_t hash = hash_bytes(name->text, name->size);
	const uint64_t *known = map_get(&asked->unit->others, hash);

	if (known)
		return (enum macro_kind) * known;
	if (macro_file_has_function(&asked->unit->own, name))
		return MACRO_FUNCTION;
	for (size_t i = 0; i < files->count; i++) {
		if (macro_file_has_function(
			    &(*(struct known_file **)vec_at(files, i))->is,
			    name))
			return MACRO_FUNCTION;
	}
	return asked->unit->named || map_get(&asked->unit->variables, hash)
		       ? MACRO_VARIABLE
		       : MACRO_UNKNOWN;
}

/* Most names are no macros: they are looked for in all files once. */
static void note_other(struct asked *asked, const struct ctoken *name)
{
	uint64_t hash = hash_bytes(name->text, name->size);
	struct macro_definition definition;

	if (!map_get(&asked->unit->others, hash) &&
	    !find_definition(asked, name, 0, &definition))
		map_set(&asked->unit->others, hash, kind_of(asked, name));
}

static bool unit_has_macros(struct debug_unit *unit)
{
	switch (die_language(&unit->die)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

void macros_meaning(struct macros *macros, struct debug_unit *unit,
		    const char *file, const struct ctoken *name,
		    struct ctokens arguments, struct macro_meaning *ret)
{
	uint64_t *known = map_get(&macros->units, (uint64_t)(uintptr_t)unit);
	struct asked asked = { .file = file };
	const struct macro_names names = {
		.definition = find_definition,
		.kind = kind_of,
		.arg = &asked,
	};

	*ret = (struct macro_meaning){ 0 };
	if (!unit_has_macros(unit))
		return;
	asked.unit = known ? (struct unit_macros *)(uintptr_t)*known
			   : unit_read(macros, unit);
	if (!asked.unit)
		return;
	note_other(&asked, name);
	macro_meaning_at(&names, name, arguments, ret);
}
