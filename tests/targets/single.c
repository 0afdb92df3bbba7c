/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread only: nothing can race, and nothing else may happen either. */
#include "special.h"

int main(int argc, char **argv)
{
	target_init(argc, argv, 1);
	special_loop(NULL);
	return target_done("single");
}
