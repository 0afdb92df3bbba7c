/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugin of plugin.c and of dlclose_loop.c: a setter and a getter. */

void plugin_set(long value);
long plugin_get(void);

static long plugin_level;

void plugin_set(long value)
{
	plugin_level = value; /* RACE: set */
}

long plugin_get(void)
{
	return plugin_level; /* RACE: get */
}
