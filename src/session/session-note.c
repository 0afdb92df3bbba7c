/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the session says to its sink from more than one place; see
 * session-state.h.
 */
#include "session/session-state.h"

#include "base/error.h"
#include "base/rights.h"

struct error *session_tolerate(struct session *session, struct error *err)
{
	if (!err || err->kind == ERROR_NOMEM)
		return err;
	if (session->sink->note && err->kind != ERROR_GONE)
		session->sink->note(session->sink->context, error_message(err));
	error_free(err);
	return NULL;
}

void session_tell_foreign(struct session *session, const struct rights *rights)
{
	if (session->foreign_told || !rights || !rights_differ(rights))
		return;
	session->foreign_told = true;
	if (session->sink->foreign)
		session->sink->foreign(session->sink->context);
}
