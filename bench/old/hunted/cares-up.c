/* SPDX-License-Identifier: GPL-3.0-or-later */
/* c-ares: a query of a server that is not there, and the end. */
#include <ares.h>
#include <stddef.h>

static void answered(void *ended, int status, int timeouts,
		     unsigned char *answer, int length)
{
	(void)status;
	(void)timeouts;
	(void)answer;
	(void)length;
	*(int *)ended = 1;
}

int main(void)
{
	struct ares_options options = { .evsys = ARES_EVSYS_DEFAULT };
	ares_channel_t *channel;
	int ended = 0;

	ares_library_init(ARES_LIB_INIT_ALL);
	if (ares_init_options(&channel, &options, ARES_OPT_EVENT_THREAD) != 0)
		return 1;
	ares_set_servers_ports_csv(channel, "127.0.0.1:9");
	ares_query(channel, "name.invalid", 1, 1, answered, &ended);
	ares_destroy(channel);
	ares_library_cleanup();
	return !ended;
}
