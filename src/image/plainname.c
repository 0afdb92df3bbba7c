/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of parts of library types; see plainname.h. The members are those of
 * libstdc++, of libc++ (.__begin_) and of Rust's Vec and Box.
 */
#include "image/plainname.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Put the text, which is not longer, in the place of `length' characters. */
static void replace(char *at, size_t length, const char *text)
{
	memmove(at + strlen(text), at + length, strlen(at + length) + 1);
	while (*text)
		*at++ = *text++;
}

/* What is in a std::optional is behind an arrow. */
static void replace_optional(char *name)
{
	static const char inner[] = "._M_payload._M_payload._M_value.";
	char *at;

	while ((at = strstr(name, inner)))
		replace(at, strlen(inner), "->");
}

/* The members with which containers begin, where what they lead to is named. */
static void drop_inner(char *name)
{
	static const char *const inner[] = {
		"._M_impl._M_start",
		"->_M_impl._M_start",
		"._M_t._M_t._M_head_impl",
		"._M_t._M_head_impl",
		"._M_dataplus._M_p",
		"._M_local_buf",
		"._M_ptr",
		"._M_elems",
		".__begin_",
		".buf.ptr.pointer.pointer",
		".buf.ptr.pointer",
		".ptr.pointer",
	};

	for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
		size_t length = strlen(inner[i]);
		char *at = name;

		while ((at = strstr(at, inner[i]))) {
			if (at[length] && strchr(".-[+)", at[length]))
				replace(at, length, "");
			else
				at += length;
		}
	}
}

/* The members that tell something of a container, where they end the name. */
static const struct {
	const char *member, *function;
} tells[] = {
	{ "_M_t._M_impl._M_node_count", "size()" },
	{ "_M_h._M_element_count", "size()" },
	{ "_M_impl._M_node._M_size", "size()" },
	{ "_M_string_length", "size()" },
	{ "_M_impl._M_start", "begin()" },
	{ "_M_impl._M_finish", "end()" },
	{ "_M_impl._M_end_of_storage", "capacity()" },
	{ "_M_dataplus._M_p", "data()" },
	{ "_M_payload._M_payload._M_value", "value()" },
	{ "_M_payload._M_engaged", "has_value()" },
};

/* It is a member of what is before it. */
static bool is_member(const char *name, const char *at)
{
	return (at > name + 1 && at[-1] == '.') ||
	       (at > name + 2 && at[-1] == '>' && at[-2] == '-');
}

static void replace_end(char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(tells) / sizeof(tells[0]); i++) {
		size_t size = strlen(tells[i].member);
		char *at = name + length - size;

		if (size >= length || strcmp(at, tells[i].member) != 0 ||
		    !is_member(name, at))
			continue;
		replace(at, size, tells[i].function);
		return;
	}
}

void plain_name(char *name)
{
	replace_optional(name);
	drop_inner(name);
	replace_end(name);
}
