/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marks of synchronization in debug information; see atomics.h. Functions are
 * known by their mangled names (Itanium C++ ABI, section 5.1), which say
 * without further reading of DIEs what class a function belongs to.
 */
#include "image/atomics.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/error.h"
#include "image/atomicline.h"
#include "image/debuginfo.h"
#include "image/die.h"
#include "image/elftext.h"
#include "image/fieldpath.h"
#include "image/image.h"
#include "image/scopes.h"
#include "image/varindex.h"

/*
 * Bytes of DWARF looked through at one question, in some milliseconds: all of
 * a small program's, of which nothing then depends on when it is asked.
 */
static const uint64_t WORK_SIZE = UINT64_C(4) << 20;

static bool skip_prefix(const char **at, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(*at, prefix, length) != 0)
		return false;
	*at += length;
	return true;
}

/* Take "<length><identifier>" of a mangled name. */
static bool take_identifier(const char **at, const char **ret, size_t *ret_size)
{
	size_t size = 0;

	while (**at >= '0' && **at <= '9') {
		size = size * 10 + (size_t)(**at - '0');
		if (size > 1000)
			return false;
		++*at;
	}
	if (size == 0 || strnlen(*at, size) < size)
		return false;
	*ret = *at;
	*ret_size = size;
	*at += size;
	return true;
}

static bool begins(const char *text, size_t size, const char *prefix)
{
	return size >= strlen(prefix) &&
	       strncmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * A name in namespace std: classes such as atomic, atomic_flag, __atomic_base,
 * __cxx_atomic_impl, and functions such as atomic_load. operator& and
 * operator| there take memory orders in atomic code that is not inlined.
 */
static bool is_atomic_identifier(const char *name, size_t size)
{
	return begins(name, size, "atomic") || begins(name, size, "__atomic") ||
	       begins(name, size, "__cxx_atomic") ||
	       begins(name, size, "__cmpexch_failure_order");
}

/* What follows "St", perhaps with an inline namespace ("3__1"). */
static bool is_atomic_in_std(const char *at)
{
	const char *name;
	size_t size;

	if (!take_identifier(&at, &name, &size))
		return false;
	if (begins(name, size, "__") && size <= 4 &&
	    !take_identifier(&at, &name, &size))
		return false;
	return is_atomic_identifier(name, size);
}

static bool is_atomic_cxx(const char *name)
{
	const char *at = name;

	if (!skip_prefix(&at, "_Z"))
		return false;
	if (skip_prefix(&at, "StanSt12memory_order") ||
	    skip_prefix(&at, "StorSt12memory_order"))
		return true;
	if (*at == 'N') {
		at++;
		at += strspn(at, "rVKRO");
	}
	return skip_prefix(&at, "St") && is_atomic_in_std(at);
}

/* Legacy Rust names are C++ names; new ones have to be demangled. */
static bool is_atomic_rust(const char *name)
{
	static const char path[] = "core::sync::atomic::";
	bool found = false;
	const char *at = name;
	char *demangled;

	if (!strstr(name, "4core4sync6atomic"))
		return false;
	if (skip_prefix(&at, "_ZN4core4sync6atomic"))
		return true;
	demangled = demangle(name);
	if (demangled) {
		at = demangled;
		skip_prefix(&at, "<");
		found = strncmp(at, path, strlen(path)) == 0;
		free(demangled);
	}
	return found;
}

static bool is_atomic_function(const char *name)
{
	return is_atomic_cxx(name) || is_atomic_rust(name);
}

static bool is_atomic_scope(struct scope *scope)
{
	if (scope->mark == SCOPE_UNMARKED) {
		const char *name = die_linkage_name(&scope->die);

		scope->mark = name && is_atomic_function(name) ? SCOPE_ATOMIC
							       : SCOPE_PLAIN;
	}
	return scope->mark == SCOPE_ATOMIC;
}

/* Is the address in an atomic function, or in one that is inlined there? */
static bool is_atomic_by_dwarf(struct debug_unit *unit, uint64_t address)
{
	const struct scope_range *function;
	const struct scope_range *range;
	struct unit_scopes *scopes;
	uint32_t cursor;

	struct error *err = debug_unit_scopes(unit, &scopes);

	if (err) {
		error_free(err);
		return false;
	}
	function = unit_scopes_function(scopes, address);
	if (!function)
		return false;
	cursor = function->count;
	while ((range = unit_scopes_inlined(scopes, function, address,
					    &cursor))) {
		if (is_atomic_scope(vec_at(&scopes->scopes, range->scope)))
			return true;
	}
	return is_atomic_scope(vec_at(&scopes->scopes, function->scope));
}

static struct debug_module *debug_of(struct image *image, struct module *module)
{
	struct debug_module *debug;
	struct error *err = debuginfo_module(image, module, &debug);

	if (err) {
		error_free(err);
		return NULL;
	}
	return debug;
}

enum atomics_mark atomics_code(struct image *image, struct module *module,
			       uint64_t address, bool macros)
{
	const struct elf_function *function;
	struct debug_module *debug;
	struct debug_unit *unit;

	if (!module->text)
		return ATOMICS_NONE;
	function = elftext_function_at(module->text, address);
	if (function && function->name && is_atomic_function(function->name))
		return ATOMICS_CODE;
	debug = debug_of(image, module);
	unit = debug ? debug_module_unit(debug, address) : NULL;
	if (!unit)
		return ATOMICS_NONE;
	address += debug->dwarf_shift;
	if (is_atomic_by_dwarf(unit, address))
		return ATOMICS_CODE;
	switch (atomic_line_at(debug, unit, address, macros)) {
	case ATOMIC_LINE_LOAD:
		return ATOMICS_LOAD;
	case ATOMIC_LINE_STORE:
		return ATOMICS_STORE;
	case ATOMIC_LINE_LOAD | ATOMIC_LINE_STORE:
		return ATOMICS_CODE;
	default:
		return ATOMICS_NONE;
	}
}

/* C++ and Rust have no atomic operation that is not a function of theirs. */
static bool unit_names_atomics(struct debug_unit *unit)
{
	switch (die_language(&unit->die)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
		return true;
	default:
		return false;
	}
}

enum atomics_missing atomics_missing(struct image *image, struct module *module,
				     uint64_t address, bool writes)
{
	const unsigned int kind = writes ? ATOMIC_LINE_STORE : ATOMIC_LINE_LOAD;
	struct debug_module *debug;
	struct debug_unit *unit;
	unsigned int line;

	if (!module->text)
		return ATOMICS_MISS_DEBUG;
	debug = debug_of(image, module);
	unit = debug ? debug_module_unit(debug, address) : NULL;
	if (!unit)
		return ATOMICS_MISS_DEBUG;
	address += debug->dwarf_shift;
	if (unit_names_atomics(unit))
		return ATOMICS_MISS_NOTHING;
	if (!atomic_line_is_at_hand(debug, unit, address))
		return ATOMICS_MISS_SOURCE;
	line = atomic_line_at(debug, unit, address, true);
	return (line & ATOMIC_LINE_MAYBE) && (line & kind)
		       ? ATOMICS_MISS_MACRO
		       : ATOMICS_MISS_NOTHING;
}

static enum atomics_mark mark_of_variable(Dwarf_Die *die, uint64_t offset)
{
	enum atomics_mark mark = ATOMICS_NONE;
	struct field_path path = { 0 };
	Dwarf_Die type;

	if (!die_referred(die, DW_AT_type, &type))
		return ATOMICS_NONE;
	field_path_find(&type, offset, 1, &path);
	if (path.is_atomic)
		mark = ATOMICS_TYPE;
	field_path_deinit(&path);
	return mark;
}

enum atomics_mark atomics_data(struct image *image, struct module *module,
			       uint64_t address)
{
	struct debug_module *debug;
	const char *symbol;
	struct error *err;
	uint64_t start;
	uint64_t size;
	bool found = false;
	bool complete;
	Dwarf_Die die;

	if (!module->text)
		return ATOMICS_NONE;
	symbol = elftext_data_symbol(module->text, address, &start, &size);
	if (symbol && strncmp(symbol, "_ZGV", 4) == 0)
		return ATOMICS_GUARD;
	debug = debug_of(image, module);
	if (!debug || !debug->dwarf)
		return ATOMICS_NONE;
	address += debug->dwarf_shift;
	err = variable_index_work(debug, WORK_SIZE, &complete);
	if (!err && complete)
		err = variable_index_find(debug, address, &die, &start, &found);
	if (err) {
		error_free(err);
		return ATOMICS_NONE;
	}
	return found ? mark_of_variable(&die, address - start) : ATOMICS_NONE;
}
