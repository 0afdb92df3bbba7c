/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks QEMU for calls at the instructions of a block: after each access that is
 * recorded, after each call, where a call returns to, and where a watched
 * function begins.
 */
#ifndef RECORDER_QEMU_TRANSLATE_H
#define RECORDER_QEMU_TRANSLATE_H

#include "recorder/qemu/api.h"

/* Once, before the others. False: there is no decoder; a message was printed. */
bool translate_init(void);

/* QEMU is about to translate a block. */
void translate_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block);

/* Mappings have changed: what code belongs to no file is looked up again. */
void translate_forget(void);

#endif
