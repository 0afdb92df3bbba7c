/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How racewatch gets a capability that it lacks, for this user in this place.
 * To be root is of no use where root has lost it: a container, a service.
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "doctor/checks-list.h"
#include "sys/policy.h"

static const struct {
	const char *name, *files; /* for --cap-add, for setcap(8) */
	int number;
	bool everywhere; /* one that counts in the initial namespace only */
} capabilities[] = {
	[CHECK_PTRACE] = { "SYS_PTRACE", "cap_sys_ptrace,cap_perfmon", 19,
			   false },
	[CHECK_OTHERS] = { "SYS_PTRACE",
			   "cap_sys_ptrace,cap_dac_read_search,cap_perfmon", 19,
			   false },
	[CHECK_PERFMON] = { "PERFMON", "cap_sys_ptrace,cap_perfmon", 38, true },
	[CHECK_RESTORE] = { "CHECKPOINT_RESTORE",
			    "cap_sys_ptrace,cap_perfmon,"
			    "cap_checkpoint_restore",
			    40, true },
};

static void add_way(struct strbuf *text, enum check_capability which)
{
	const char *name = capabilities[which].name;

	if (capabilities[which].everywhere && !policy_initial_users())
		strbuf_addf(text,
			    "run racewatch outside of this user namespace, "
			    "with CAP_%s",
			    name);
	else if (prctl(PR_CAPBSET_READ, capabilities[which].number) == 0)
		strbuf_addf(text,
			    "start racewatch with CAP_%s, which even root has "
			    "not here: in a container, docker run or podman "
			    "run with --cap-add=%s; in a service, "
			    "CapabilityBoundingSet=",
			    name, name);
	else if (geteuid() == 0)
		strbuf_addf(text,
			    "start racewatch with CAP_%s, which this root "
			    "process has given up",
			    name);
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		strbuf_addf(text,
			    "run racewatch as root, or with CAP_%s, from where "
			    "no_new_privs is not set",
			    name);
	else
		strbuf_addf(text,
			    "run racewatch as root, or setcap %s+ep "
			    "$(command -v racewatch)",
			    capabilities[which].files);
}

void check_advise_capability(struct check *check, const char *before,
			     enum check_capability which, const char *after)
{
	struct strbuf text = { 0 };

	strbuf_add(&text, before);
	add_way(&text, which);
	strbuf_add(&text, after);
	/* without memory for it, there is none */
	if (!text.failed)
		check_advise(check, "%s", strbuf_text(&text));
	strbuf_deinit(&text);
}
