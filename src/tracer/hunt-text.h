/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * INT3s of a hunt that stay (arm_standing()): of sides that wait in the text, and
 * of partners for which there is no register (hunt.h). Those at one address share
 * one, which is lifted with the last of them.
 */
#ifndef TRACER_HUNT_TEXT_H
#define TRACER_HUNT_TEXT_H

#include <stdbool.h>

struct engine;
struct wire_site;

/* Does a side or a partner have one there? */
bool hunt_text_has(const struct engine *engine, const struct wire_site *site);

/* False: it cannot be set. The caller notes in the side or partner that it is. */
bool hunt_text_stand(struct engine *engine, const struct wire_site *site);

/* The caller has noted that its side or partner has none any more. */
void hunt_text_leave(struct engine *engine, const struct wire_site *site);

#endif
