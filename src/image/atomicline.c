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
#include "image/macros.h"
#include "image/sourcetext.h"

enum { CALL_MAX = 4096 }; /* bytes of a call that are looked at */

bool atomic_line_word(const char *line, size_t size, size_t column,
		      struct ctoken *ret)
{
	size_t start = column - 1, end = start;

	if (column < 1 || column > size)
		return false;
	if (line[start] == '(') {
		while (end > 0 && line[end - 1] == ' ')
			end--;
		start = end;
		while (start > 0 && ctoken_is_word_char(line[start - 1]))
			start--;
	} else if (start > 0 && ctoken_is_word_char(line[start - 1])) {
		return false;
	}
	while (end < size && ctoken_is_word_char(line[end]))
		end++;
	*ret = (struct ctoken){
		.kind = CTOKEN_WORD,
		.text = line + start,
		.size = end - start,
	};
	return end > start;
}

unsigned int atomic_line_names(const struct ctoken *word)
{
	return (macro_name_loads(word) ? ATOMIC_LINE_LOAD : 0) |
	       (macro_name_stores(word) ? ATOMIC_LINE_STORE : 0);
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

/* The text of the line that a row is of, if it is at hand, and its file. */
static bool row_text(struct debug_module *debug, struct debug_unit *unit,
		     Dwarf_Line *row, char **ret_file, const char **ret,
		     size_t *ret_size)
{
	char *file;
	int line;

	*ret_file = NULL;
	if (!row || dwarf_lineno(row, &line) != 0)
		return false;
	if (!debug->sources)
		debug->sources = source_texts_create(image_access(debug->image),
						     debug->module->path);
	*ret_file = file = row_path(unit, row);
	return debug->sources && file &&
	       source_texts_line(debug->sources, file, line, ret, ret_size);
}

static unsigned int line_of_meaning(const struct macro_meaning *meaning)
{
	unsigned int found = 0;

	if (meaning->unknown)
		return ATOMIC_LINE_LOAD | ATOMIC_LINE_STORE | ATOMIC_LINE_MAYBE;
	if (meaning->marks & MACRO_LOADS)
		found |= ATOMIC_LINE_LOAD;
	if (meaning->marks & MACRO_STORES)
		found |= ATOMIC_LINE_STORE;
	return found && meaning->plain ? found | ATOMIC_LINE_MAYBE : found;
}

/* A member's name is none of a macro's. */
static bool is_member(const char *line, const char *word)
{
	while (word > line && word[-1] == ' ')
		word--;
	return word > line &&
	       (word[-1] == '.' ||
		(word[-1] == '>' && word - 1 > line && word[-2] == '-'));
}

static unsigned int line_of_macro(struct debug_module *debug,
				  struct debug_unit *unit, const char *file,
				  const struct ctoken *word)
{
	struct ctokens rest = { .at = word->text + word->size };
	struct macro_meaning meaning;
	size_t size;

	if (!debug->macros)
		debug->macros = macros_create(debug->sources);
	if (!debug->macros ||
	    !source_texts_rest(debug->sources, file, rest.at, &size))
		return ATOMIC_LINE_NONE;
	rest.end = rest.at + (size < CALL_MAX ? size : CALL_MAX);
	macros_meaning(debug->macros, unit, file, word, rest, &meaning);
	return line_of_meaning(&meaning);
}

unsigned int atomic_line_at(struct debug_module *debug, struct debug_unit *unit,
			    uint64_t address, bool macros)
{
	Dwarf_Line *row = dwarf_getsrc_die(&unit->skeleton, address);
	cleanup_free char *file = NULL;
	struct ctoken word;
	const char *text;
	size_t size;
	int column;

	if (!row || dwarf_linecol(row, &column) != 0 || column < 1 ||
	    !row_text(debug, unit, row, &file, &text, &size) ||
	    !atomic_line_word(text, size, (size_t)column, &word))
		return ATOMIC_LINE_NONE;
	if (atomic_line_names(&word))
		return atomic_line_names(&word);
	return !macros || is_member(text, word.text)
		       ? ATOMIC_LINE_NONE
		       : line_of_macro(debug, unit, file, &word);
}

bool atomic_line_is_at_hand(struct debug_module *debug, struct debug_unit *unit,
			    uint64_t address)
{
	Dwarf_Line *row = dwarf_getsrc_die(&unit->skeleton, address);
	cleanup_free char *file = NULL;
	const char *text;
	size_t size;

	return row_text(debug, unit, row, &file, &text, &size);
}
