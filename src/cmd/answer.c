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
#include "image/unwind.h"
#include "report/object.h"
#include "store/store.h"
#include "x86/decode.h"

/* "with Capstone 4.0, elfutils 0.188, ..." */
static void add_libraries(struct strbuf *text)
{
	static void (*const add[])(struct strbuf *) = {
		decode_add_version, unwind_add_versions, object_add_version,
		store_add_version,  foreign_add_version,
	};

	for (size_t i = 0; i < sizeof(add) / sizeof(*add); i++) {
		strbuf_add(text, i ? ", " : "with ");
		add[i](text);
	}
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
