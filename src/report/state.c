/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file of --state; see state.h.
 */
#include "report/state.h"

#include "base/error.h"
#include "base/log.h"

struct error *state_load(struct state *state, const char *path)
{
	struct error *err = NULL;

	state->path = path;
	learned_init(&state->learned);
	learned_init(&state->before);
	if (path)
		err = learned_read(&state->before, path);
	if (!err)
		err = learned_add(&state->learned, &state->before);
	return err;
}

void state_deinit(struct state *state)
{
	learned_deinit(&state->learned);
	learned_deinit(&state->before);
}

bool state_save(struct state *state)
{
	struct error *err;

	if (!state->path)
		return true;
	err = learned_subtract(&state->learned, &state->before);
	if (!err)
		err = learned_save(&state->learned, state->path);
	if (err)
		log_error("the state was not saved: %s", error_message(err));
	error_free(err);
	return !err;
}
