/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads /proc/self/maps.
 */
#include "recorder/qemu/maps.h"

#include <stdio.h>
#include <string.h>

static bool read_line(const char *line, struct map *map)
{
	int path = 0;

	if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &map->low, &map->high,
		   &map->offset, &path) < 3)
		return false;
	map->path[0] = '\0';
	if (path > 0 && line[path] == '/')
		snprintf(map->path, sizeof(map->path), "%.*s",
			 (int)strcspn(line + path, "\n"), line + path);
	return true;
}

bool maps_find(uint64_t address, struct map *ret)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = read_line(line, ret) && address >= ret->low &&
			address < ret->high;
	if (file)
		fclose(file);
	return found;
}
