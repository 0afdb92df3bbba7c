/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --help and --version; see cmd.h.
 */
#include "cmd/cmd.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/strbuf.h"
#include "foreign/foreign.h"
#include "image/unwinddwfl.h"
#include "image/unwindunw.h"
#include "report/object.h"
#include "store/store.h"
#include "x86/decode.h"

typedef void add_version(struct strbuf *);

static void add_versions(struct strbuf *text, const char *before,
			 add_version *const *add)
{
	for (; *add; add++) {
		strbuf_add(text, before);
		(*add)(text);
		before = ", ";
	}
}

static void add_capstone(struct strbuf *text)
{
	int major, minor;

	decode_version(&major, &minor);
	strbuf_addf(text, "Capstone %d.%d", major, minor);
}

static void add_libraries(struct strbuf *text)
{
	static add_version *const loaded[] = { add_capstone,
					       unwinddwfl_add_version,
					       store_add_version,
					       foreign_add_version, NULL };
	/* these do not tell which of them is loaded */
	static add_version *const built[] = { unwindunw_add_version,
					      object_add_version, NULL };

	add_versions(text, "with ", loaded);
	add_versions(text, "; built with ", built);
}

void command_print_version(void)
{
	struct strbuf libraries = { 0 };
	struct utsname system;

	add_libraries(&libraries);
	printf("racewatch %s\n%s\n", PACKAGE_VERSION, strbuf_text(&libraries));
	strbuf_deinit(&libraries);
	if (uname(&system) == 0)
		printf("on %s %s, %s; what it permits: racewatch doctor\n",
		       system.sysname, system.release, system.machine);
}

bool command_answer(const struct command *command,
		    const struct standard *standard)
{
	if (standard->help)
		options_help(command->options, stdout);
	else if (standard->version)
		command_print_version();
	return standard->help || standard->version;
}
