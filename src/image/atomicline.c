/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Atomic operations by line and column; see atomicline.h.
 */
#include "image/atomicline.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "image/debuginfo.h"
#include "image/image.h"
#include "image/sourcetext.h"

/* C11, GCC, Clang, Linux and those who follow it, userspace RCU, GLib. */
static const char *const loads[] = {
	"atomic_load",	    "atomic_load_explicit", "__atomic_load",
	"__atomic_load_n",  "__c11_atomic_load",    "READ_ONCE",
	"smp_load_acquire", "CMM_LOAD_SHARED",	    "uatomic_read",
	"rcu_dereference",  "g_atomic_int_get",	    "g_atomic_pointer_get",
};

static const char *const stores[] = {
	"atomic_store",	       "atomic_store_explicit",
	"atomic_flag_clear",   "atomic_flag_clear_explicit",
	"__atomic_store_n",    "__atomic_clear",
	"__sync_lock_release", "__c11_atomic_store",
	"WRITE_ONCE",	       "smp_store_release",
	"CMM_STORE_SHARED",    "uatomic_set",
	"rcu_assign_pointer",  "rcu_set_pointer",
	"g_atomic_int_set",    "g_atomic_pointer_set",
};

static bool is_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static bool is_one_of(const char *word, size_t length, const char *const *list,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(list[i]) == length &&
		    memcmp(list[i], word, length) == 0)
			return true;
	}
	return false;
}

/* The word at or, from a bracket on, before the column. */
static size_t word_at(const char *line, size_t size, size_t column,
		      const char **ret)
{
	size_t start = column - 1, end = start;

	if (line[start] == '(') {
		while (end > 0 && line[end - 1] == ' ')
			end--;
		start = end;
		while (start > 0 && is_identifier(line[start - 1]))
			start--;
	} else if (start > 0 && is_identifier(line[start - 1])) {
		return 0;
	}
	while (end < size && is_identifier(line[end]))
		end++;
	*ret = line + start;
	return end - start;
}

enum atomic_line atomic_line_names(const char *line, size_t size, size_t column)
{
	const char *word;
	size_t length;

	if (column < 1 || column > size)
		return ATOMIC_LINE_NONE;
	length = word_at(line, size, column, &word);
	if (length == 0)
		return ATOMIC_LINE_NONE;
	if (is_one_of(word, length, loads, sizeof(loads) / sizeof(loads[0])))
		return ATOMIC_LINE_LOAD;
	if (is_one_of(word, length, stores, sizeof(stores) / sizeof(stores[0])))
		return ATOMIC_LINE_STORE;
	return ATOMIC_LINE_NONE;
}

/*
 * The file of a row, absolute; NULL if that is not known, or there is no
 * memory. libdw leaves folders relative that are relative in DWARF 5.
 */
static char *row_path(struct debug_unit *unit, Dwarf_Line *row)
{
	const char *file = dwarf_linesrc(row, NULL, NULL);
	struct strbuf path = { 0 };
	Dwarf_Attribute attr;
	const char *folder;

	if (!file)
		return NULL;
	if (file[0] == '/')
		return strdup(file);
	folder = dwarf_formstring(
		dwarf_attr(&unit->skeleton, DW_AT_comp_dir, &attr));
	if (!folder || folder[0] != '/')
		return NULL;
	strbuf_addf(&path, "%s/%s", folder, file);
	return strbuf_steal(&path);
}

/* The text of the line that a row is of, if it is at hand. */
static bool row_text(struct debug_module *debug, struct debug_unit *unit,
		     Dwarf_Line *row, const char **ret, size_t *ret_size)
{
	cleanup_free char *file = NULL;
	int line;

	if (!row || dwarf_lineno(row, &line) != 0)
		return false;
	if (!debug->sources)
		debug->sources = source_texts_create(image_access(debug->image),
						     debug->module->path);
	file = row_path(unit, row);
	return debug->sources && file &&
	       source_texts_line(debug->sources, file, line, ret, ret_size);
}

enum atomic_line atomic_line_at(struct debug_module *debug,
				struct debug_unit *unit, uint64_t address)
{
	Dwarf_Line *row = dwarf_getsrc_die(&unit->skeleton, address);
	const char *text;
	size_t size;
	int column;

	if (!row || dwarf_linecol(row, &column) != 0 || column < 1 ||
	    !row_text(debug, unit, row, &text, &size))
		return ATOMIC_LINE_NONE;
	return atomic_line_names(text, size, (size_t)column);
}

bool atomic_line_is_at_hand(struct debug_module *debug, struct debug_unit *unit,
			    uint64_t address)
{
	Dwarf_Line *row = dwarf_getsrc_die(&unit->skeleton, address);
	const char *text;
	size_t size;

	return row_text(debug, unit, row, &text, &size);
}
