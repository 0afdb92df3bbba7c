/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Split units; see splitunit.h. libdw (libdw_find_split_unit.c) tries the name
 * in the folder of the file that it read, then in the unit's folder, and since
 * 0.192 a .dwp file beside the module.
 */
#include "image/splitunit.h"

#include <dwarf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"
#include "base/strbuf.h"
#include "image/fileaccess.h"

static const uint64_t LINK_LIMIT_NS = CLOCK_NS_PER_S;

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute)
						 : NULL;
}

const char *split_unit_name(Dwarf_Die *skeleton)
{
	const char *name = string_of(skeleton, DW_AT_dwo_name);

	return name ? name : string_of(skeleton, DW_AT_GNU_dwo_name);
}

static void ask(Dwarf_Die *skeleton, Dwarf_Die *ret)
{
	*ret = (Dwarf_Die){ .addr = NULL };
	if (dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, ret, NULL, NULL,
			  NULL) != 0)
		*ret = (Dwarf_Die){ .addr = NULL };
}

/* Both calls succeed: the limit is our own, and only the soft one changes. */
void split_units_bar(struct rlimit *ret)
{
	struct rlimit none;

	getrlimit(RLIMIT_NOFILE, ret);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = ret->rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
}

void split_units_allow(const struct rlimit *before)
{
	setrlimit(RLIMIT_NOFILE, before);
}

static void ask_in_vain(Dwarf_Die *skeleton)
{
	struct rlimit before;
	Dwarf_Die split;

	split_units_bar(&before);
	ask(skeleton, &split);
	split_units_allow(&before);
}

static void interrupted(int number)
{
	(void)number;
}

/*
 * The path was that of a regular file a moment ago. Should it be another's by
 * now, then it is opened with the program's rights, and a signal ends the
 * waiting: the first, or, if that came before it began, one of the next.
 */
void split_unit_link(Dwarf_Die *skeleton, const struct rights *rights,
		     uint64_t limit_ns, Dwarf_Die *ret)
{
	const struct sigaction interrupt = { .sa_handler = interrupted };
	const struct itimerval off = { .it_value = { 0, 0 } };
	struct itimerval limit = {
		.it_interval = { .tv_usec = 20 * 1000 },
		.it_value = { .tv_sec = (time_t)(limit_ns / CLOCK_NS_PER_S),
			      .tv_usec =
				      (suseconds_t)(limit_ns % CLOCK_NS_PER_S /
						    CLOCK_NS_PER_US) },
	};
	struct rights_saved saved;
	struct sigaction before;
	struct error *err = rights_assume(rights, &saved);

	*ret = (Dwarf_Die){ .addr = NULL };
	if (err) {
		log_debug(LOG_IMAGE, "%s", error_message(err));
		error_free(err);
		ask_in_vain(skeleton);
		return;
	}
	sigaction(SIGALRM, &interrupt, &before);
	setitimer(ITIMER_REAL, &limit, NULL);
	ask(skeleton, ret);
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &before, NULL);
	if (!rights_restore(&saved))
		log_error("our own rights are lost");
}

/* What is at a path that libdw may open. */
enum place {
	PLACE_EMPTY,
	PLACE_FILE,
	/* no regular file, one that somebody serves, or it cannot be told */
	PLACE_BAD,
};

/* What is served is opened as a copy: libdw would wait for who serves it. */
static bool is_file_itself(int fd, const struct stat *status)
{
	struct stat opened;

	return fstat(fd, &opened) == 0 && opened.st_dev == status->st_dev &&
	       opened.st_ino == status->st_ino;
}

static enum place look_at(const struct split_home *home, const char *path)
{
	cleanup_close int fd = -1;
	struct stat status;
	struct error *err =
		file_access_open_named(home->access, path, &fd, &status);
	bool absent = err && err != error_nomem && err->code != 0;

	if (err) {
		error_free(err);
		return absent ? PLACE_EMPTY : PLACE_BAD;
	}
	return is_file_itself(fd, &status) ? PLACE_FILE : PLACE_BAD;
}

/* The folder of a path with the '/', as a length. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* The paths that libdw may try; one that is "" there is not. */
static void list_paths(const struct split_home *home, const char *name,
		       const char *folder, struct strbuf paths[5])
{
	const char *beside = home->debug_path ? home->debug_path
					      : home->module_path;

	strbuf_addf(&paths[0], "%s.dwp", home->module_path);
	if (home->debug_path)
		strbuf_addf(&paths[1], "%s.dwp", home->debug_path);
	if (name[0] == '/') {
		strbuf_add(&paths[2], name);
		return;
	}
	strbuf_addf(&paths[2], "%.*s%s", folder_length(beside), beside, name);
	if (!folder)
		return;
	strbuf_addf(&paths[3], "%s/%s", folder, name);
	if (folder[0] != '/')
		strbuf_addf(&paths[4], "%.*s%s/%s", folder_length(beside),
			    beside, folder, name);
}

/* Is there a file of this machine, and nothing else? */
static bool is_safe(const struct split_home *home, Dwarf_Die *skeleton)
{
	const char *name = split_unit_name(skeleton);
	const char *folder = string_of(skeleton, DW_AT_comp_dir);
	struct strbuf paths[5] = { { 0 } };
	bool good = false, bad = false;

	if (!name)
		return false;
	list_paths(home, name, folder, paths);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *path = strbuf_text(&paths[i]);
		enum place place = path[0] && !bad ? look_at(home, path)
						   : PLACE_EMPTY;

		good |= place == PLACE_FILE;
		bad |= place == PLACE_BAD || paths[i].failed;
		if (place == PLACE_BAD)
			log_debug(LOG_IMAGE,
				  "%s: not opened: no regular file, or served",
				  path);
		strbuf_deinit(&paths[i]);
	}
	return good && !bad;
}

void split_unit_find(const struct split_home *home, Dwarf_Die *skeleton,
		     Dwarf_Die *ret)
{
	*ret = (Dwarf_Die){ .addr = NULL };
	if (is_safe(home, skeleton))
		split_unit_link(skeleton, file_access_rights(home->access),
				LINK_LIMIT_NS, ret);
	else
		ask_in_vain(skeleton);
}

void split_units_forbid(Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if (type == DW_UT_skeleton)
			ask_in_vain(&die);
	}
}
