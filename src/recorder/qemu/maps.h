/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is mapped at an address of the program: as this process has it, whose
 * addresses are the program's own.
 */
#ifndef RECORDER_QEMU_MAPS_H
#define RECORDER_QEMU_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct map {
	uint64_t low, high; /* addresses [low, high) */
	uint64_t offset; /* of the file, at low */
	char path[PATH_MAX]; /* "": no file's */
};

/* False: nothing is mapped there. See /proc/PID/maps in proc(5). */
bool maps_find(uint64_t address, struct map *ret);

#endif
