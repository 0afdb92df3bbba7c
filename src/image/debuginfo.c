/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug information by module; see debuginfo.h. libdwfl gets the bytes that
 * elftext holds already, and the debug file that elftext found: its own search
 * would ask debuginfod servers when the environment names some.
 */
#include "image/debuginfo.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/map.h"
#include "image/altfile.h"
#include "image/debugserver.h"
#include "image/elffile.h"
#include "image/elftext.h"
#include "image/fileaccess.h"
#include "image/image.h"
#include "image/macros.h"
#include "image/namecache.h"
#include "image/scopes.h"
#include "image/sourcetext.h"
#include "image/splitunit.h"
#include "image/varindex.h"

struct debuginfo {
	Dwfl *dwfl, *stacks;
	Dwfl_Callbacks callbacks, stack_callbacks;
	struct map modules; /* module id -> struct debug_module * */
	struct unwinder unwinder;
};

/* Code of a unit; a unit has one or more. */
struct unit_range {
	uint64_t start, end;
	size_t unit;
};

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name,
		    Dwarf_Addr base, char **file_name, Elf **elf)
{
	struct debug_module *module = *userdata;
	const struct elffile *file = elftext_file(module->module->text);

	(void)mod;
	(void)name;
	(void)base;
	(void)file_name;
	*elf = elf_memory((char *)file->bytes, file->size);
	return -1;
}

/* The debug file as servers have it, if they are to be asked; or NULL. */
static const char *fetched_path(struct debug_module *module)
{
	const char *id = elftext_build_id(module->module->text);
	uint64_t limit = image_servers_limit(module->image);
	uint64_t start = clock_now_ns();
	struct error *err;

	if (limit == 0 || !id || module->asked || module->module->vdso)
		return module->fetched;
	module->asked = true;
	err = debugserver_fetch(id, limit, &module->fetched);
	if (err)
		log_debug(LOG_IMAGE, "%s", error_message(err));
	error_free(err);
	/* a server that is too slow for one would be for the next, too */
	if (clock_now_ns() - start >= limit)
		image_ask_servers(module->image, 0);
	log_debug(LOG_IMAGE, "%s: from debuginfod: %s", module->module->path,
		  module->fetched ? module->fetched : "nothing");
	return module->fetched;
}

/*
 * Is it the file that was found to belong to the module? Another one may have
 * taken its path since.
 */
static bool is_checked(const struct debug_module *module,
		       const struct stat *status)
{
	const struct elffile *debug = elftext_debug_file(module->module->text);
	struct file_stamp now = file_stamp_of(status);

	return debug && file_stamp_same(&debug->named, &now);
}

/* What came from servers is in a cache of ours; else the program names it. */
static int open_debug(struct debug_module *module, const char *path)
{
	struct file_access *access = image_access(module->image);
	struct stat status;
	struct error *err;
	int fd;

	if (path == module->fetched)
		err = file_access_open_own(access, path, NULL, &fd, &status);
	else
		err = file_access_open_named(access, path, &fd, &status);
	if (!err && path != module->fetched && !is_checked(module, &status)) {
		close(fd);
		err = error_create(ERROR_FORMAT,
				   "%s: replaced since it was checked", path);
	}
	if (!err)
		return fd;
	log_debug(LOG_IMAGE, "%s", error_message(err));
	error_free(err);
	return -1;
}

static const char *debug_path_of(struct debug_module *module)
{
	const char *path = elftext_debug_path(module->module->text);

	return path ? path : fetched_path(module);
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file_name,
			  const char *link, GElf_Word crc, char **debug_name)
{
	struct debug_module *module = *userdata;
	const char *path = debug_path_of(module);

	(void)mod;
	(void)name;
	(void)base;
	(void)file_name;
	(void)debug_name;
	/* .gnu_debuglink has a checksum, .gnu_debugaltlink a build id */
	if (link && crc == 0)
		return altfile_open(image_access(module->image),
				    path ? path : module->module->path, link);
	return path ? open_debug(module, path) : -1;
}

/* The debug file for stacks, unless it has nothing to unwind by. */
static int find_debug_frames(Dwfl_Module *mod, void **userdata,
			     const char *name, Dwarf_Addr base,
			     const char *file_name, const char *link,
			     GElf_Word crc, char **debug_name)
{
	struct debug_module *module = *userdata;
	const struct elffile *debug = elftext_debug_file(module->module->text);

	if (debug && !elffile_section(debug, ".debug_frame", NULL))
		return -1;
	return find_debuginfo(mod, userdata, name, base, file_name, link, crc,
			      debug_name);
}

static void debug_module_destroy(struct debug_module *module)
{
	for (size_t i = 0; i < module->units.count; i++) {
		struct debug_unit *unit = vec_at(&module->units, i);

		unit_scopes_destroy(unit->scopes);
	}
	name_cache_close(module->names);
	variable_index_destroy(module->variables);
	free(module->fetched);
	macros_destroy(module->macros);
	source_texts_destroy(module->sources);
	vec_deinit(&module->units);
	vec_deinit(&module->unit_ranges);
	free(module);
}

static void debuginfo_destroy(void *data)
{
	struct debuginfo *debuginfo = data;
	uint64_t value;
	size_t at = 0;
	uint64_t id;

	if (debuginfo->stacks)
		dwfl_end(debuginfo->stacks);
	if (debuginfo->dwfl)
		dwfl_end(debuginfo->dwfl);
	while (map_next(&debuginfo->modules, &at, &id, &value))
		debug_module_destroy((struct debug_module *)(uintptr_t)value);
	map_deinit(&debuginfo->modules);
	free(debuginfo);
}

static struct error *debuginfo_create(struct debuginfo **ret)
{
	struct debuginfo *debuginfo = calloc(1, sizeof(*debuginfo));

	if (!debuginfo)
		return error_nomem;
	debuginfo->callbacks.find_elf = find_elf;
	debuginfo->callbacks.find_debuginfo = find_debuginfo;
	debuginfo->callbacks.section_address = dwfl_offline_section_address;
	debuginfo->stack_callbacks = debuginfo->callbacks;
	debuginfo->stack_callbacks.find_debuginfo = find_debug_frames;
	elf_version(EV_CURRENT);
	debuginfo->dwfl = dwfl_begin(&debuginfo->callbacks);
	debuginfo->stacks = dwfl_begin(&debuginfo->stack_callbacks);
	if (!debuginfo->dwfl || !debuginfo->stacks) {
		debuginfo_destroy(debuginfo);
		return error_nomem;
	}
	*ret = debuginfo;
	return NULL;
}

/* Tell one of libdwfl's sessions of a module. */
static Dwfl_Module *report_to(Dwfl *dwfl, struct debug_module *debug)
{
	const struct module *module = debug->module;
	Dwfl_Module *mod = dwfl_report_module(dwfl, module->path, module->start,
					      module->end);
	void **userdata;

	if (!mod)
		return NULL;
	dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = debug;
	return mod;
}

static struct error *report_module(struct image *image,
				   struct debuginfo *debuginfo,
				   struct module *module)
{
	struct debug_module *debug = calloc(1, sizeof(*debug));

	if (!debug)
		return error_nomem;
	debug->image = image;
	debug->module = module;
	debug->bias = module->bias;
	debug->units = (struct vec)VEC_INIT(struct debug_unit);
	debug->unit_ranges = (struct vec)VEC_INIT(struct unit_range);
	debug->dwfl = report_to(debuginfo->dwfl, debug);
	if (!debug->dwfl || !report_to(debuginfo->stacks, debug) ||
	    !map_set(&debuginfo->modules, module->id,
		     (uint64_t)(uintptr_t)debug)) {
		free(debug);
		return error_nomem;
	}
	return NULL;
}

/* Report the modules that are new. Those that went took debuginfo along. */
static struct error *report_modules(struct image *image,
				    struct debuginfo *debuginfo)
{
	const struct vec *modules = image_modules(image);
	struct error *err = NULL;
	bool begun = false;

	for (size_t i = 0; !err && i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (!module->text || map_get(&debuginfo->modules, module->id))
			continue;
		if (!begun) {
			dwfl_report_begin_add(debuginfo->dwfl);
			dwfl_report_begin_add(debuginfo->stacks);
		}
		begun = true;
		err = report_module(image, debuginfo, module);
	}
	if (begun) {
		dwfl_report_end(debuginfo->dwfl, NULL, NULL);
		dwfl_report_end(debuginfo->stacks, NULL, NULL);
	}
	return err;
}

/* All modules that are known, to a new session for stacks. */
static bool report_stacks(struct debuginfo *debuginfo)
{
	bool reported = true;
	uint64_t id, value;
	size_t at = 0;

	dwfl_report_begin(debuginfo->stacks);
	while (reported && map_next(&debuginfo->modules, &at, &id, &value))
		reported = report_to(debuginfo->stacks,
				     (struct debug_module *)(uintptr_t)value);
	dwfl_report_end(debuginfo->stacks, NULL, NULL);
	return reported;
}

/* The session for names is asked by module, and may have them anywhere. */
/* What was read of the modules stays. False: out of memory. */
static bool debuginfo_move(void *data)
{
	struct debuginfo *debuginfo = data;

	dwfl_end(debuginfo->stacks);
	debuginfo->unwinder = (struct unwinder){ .attached = false };
	debuginfo->stacks = dwfl_begin(&debuginfo->stack_callbacks);
	return debuginfo->stacks && report_stacks(debuginfo);
}

static struct error *debuginfo_update(struct image *image,
				      struct debuginfo **ret)
{
	struct image_kept *kept = image_debuginfo(image);
	struct debuginfo *debuginfo = kept->data;
	struct error *err;

	if (!debuginfo) {
		err = debuginfo_create(&debuginfo);
		if (err)
			return err;
		*kept = (struct image_kept){ .data = debuginfo,
					     .destroy = debuginfo_destroy,
					     .move = debuginfo_move };
	}
	err = report_modules(image, debuginfo);
	if (err) {
		/* libdwfl may know a module that we do not: start afresh */
		debuginfo_destroy(debuginfo);
		kept->data = NULL;
		return err;
	}
	*ret = debuginfo;
	return NULL;
}

struct error *debuginfo_stacks(struct image *image, Dwfl **ret)
{
	struct debuginfo *debuginfo;
	struct error *err = debuginfo_update(image, &debuginfo);

	if (err)
		return err;
	*ret = debuginfo->stacks;
	return NULL;
}

struct unwinder *debuginfo_unwinder(struct image *image)
{
	struct debuginfo *debuginfo = image_debuginfo(image)->data;

	return &debuginfo->unwinder;
}

static bool add_unit_ranges(struct debug_module *module, Dwarf_Die *die,
			    size_t unit)
{
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct unit_range range = { start, end, unit };

		/* sections that the linker dropped are left at 0 */
		if (start != 0 && start < end &&
		    !vec_push(&module->unit_ranges, &range))
			return false;
	}
	return true;
}

static int compare_unit_ranges(const void *left, const void *right)
{
	const struct unit_range *a = left;
	const struct unit_range *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Said once for each module, of the first unit. */
static void warn_of_split(const struct debug_module *module, Dwarf_Die *die)
{
	const char *name = split_unit_name(die);

	log_warn(
		"%s: its debug information is in %s, which is not there or no "
		"regular file (or in a .dwp file, which libdw reads since 0.192)",
		module->module->path, name ? name : "a .dwo file");
}

/* The split unit, or the unit itself; *missing counts those not found. */
static Dwarf_Die whole_unit(const struct debug_module *module, Dwarf_Die *die,
			    size_t *missing)
{
	const struct split_home home = {
		.access = image_access(module->image),
		.module_path = module->module->path,
		.debug_path = module->fetched ? module->fetched
					      : elftext_debug_path(
							module->module->text),
	};
	Dwarf_Die split;

	split_unit_find(&home, die, &split);
	if (!split.addr) {
		if ((*missing)++ == 0)
			warn_of_split(module, die);
		return *die;
	}
	altfile_settle(dwarf_cu_getdwarf(split.cu));
	return split;
}

/*
 * All units by address. .debug_aranges would say the same, but clang does not
 * write it and other compilers leave things out.
 */
static struct error *index_units(struct debug_module *module)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	size_t missing = 0;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(module->dwarf, cu, &cu, &version, &type, &die,
			       NULL) == 0) {
		struct debug_unit unit = { .die = die, .skeleton = die };

		unit.split = type == DW_UT_skeleton;
		if (unit.split)
			unit.die = whole_unit(module, &die, &missing);
		if (type == DW_UT_type || type == DW_UT_split_type)
			continue;
		if (!vec_push(&module->units, &unit) ||
		    !add_unit_ranges(module, &die, module->units.count - 1))
			return error_nomem;
	}
	if (missing)
		log_debug(LOG_IMAGE, "%s: %zu of %zu units without .dwo file",
			  module->module->path, missing, module->units.count);
	if (module->unit_ranges.count)
		qsort(module->unit_ranges.items, module->unit_ranges.count,
		      module->unit_ranges.size, compare_unit_ranges);
	return NULL;
}

static struct error *load_dwarf(struct debug_module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module->dwfl, &bias);

	if (!dwarf) {
		log_debug(LOG_IMAGE, "%s: no debug information: %s",
			  module->module->path, dwfl_errmsg(-1));
		return NULL;
	}
	log_debug(LOG_IMAGE, "%s: debug information read",
		  module->module->path);
	module->dwarf_shift = module->bias - bias;
	module->dwarf = dwarf;
	altfile_settle(dwarf);
	return index_units(module);
}

struct error *debuginfo_unread(struct image *image, struct module *module,
			       struct debug_module **ret)
{
	struct debuginfo *debuginfo;
	struct error *err = debuginfo_update(image, &debuginfo);

	if (err)
		return err;
	*ret = (struct debug_module *)(uintptr_t)*map_get(&debuginfo->modules,
							  module->id);
	return NULL;
}

struct error *debuginfo_module(struct image *image, struct module *module,
			       struct debug_module **ret)
{
	struct debug_module *debug;
	struct error *err = debuginfo_unread(image, module, &debug);

	if (err)
		return err;
	if (!debug->loaded) {
		debug->loaded = true;
		err = load_dwarf(debug);
		if (err)
			return err;
	}
	*ret = debug;
	return NULL;
}

struct debug_unit *debug_module_unit(struct debug_module *module,
				     uint64_t address)
{
	const struct vec *ranges = &module->unit_ranges;
	uint64_t wanted = address + module->dwarf_shift;
	size_t low = 0;
	size_t high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct unit_range *range = vec_at(ranges, middle);

		if (wanted < range->start)
			high = middle;
		else if (wanted >= range->end)
			low = middle + 1;
		else
			return vec_at(&module->units, range->unit);
	}
	return NULL;
}
