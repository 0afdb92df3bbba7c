/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records a run by QEMU's user emulation, with our plugin (src/recorder/qemu).
 * Threads run at the same time; the order of their accesses is not known. One
 * program is recorded, and what it forks: those that it executes are not.
 */
#ifndef HUNT_RECORD_QEMU_H
#define HUNT_RECORD_QEMU_H

#include <stddef.h>

struct error;
struct record_options;
struct record_result;

/* ERROR_UNSUPPORTED: QEMU or the plugin is not there; says what to install. */
struct error *record_qemu_check(void);

/* The version of QEMU, as "7.2.22", or "?"; after record_qemu_check(). */
void record_qemu_version(char *ret, size_t size);

/* Whether QEMU can run the command: the errors of record_qemu_run() that say so. */
struct error *record_qemu_check_command(const char *command);

/*
 * As record_run() does. Errors: record_qemu_check()'s; ERROR_UNSUPPORTED, too, if
 * the command is no x86-64 program; ERROR_NOT_FOUND, ERROR_CANNOT_RUN; QEMU wrote
 * no trace, and has said why on standard error.
 */
struct error *record_qemu_run(char *const *argv, const char *folder,
			      const struct record_options *options,
			      struct record_result *ret);

#endif
