/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flags that share a word: changed by two threads without a lock, so that one
 * takes the other's change back, or changed by one only while the other looks
 * at those that never change.
 */
#include "figure7.h"

enum { FLAG_OPEN = 1, FLAG_BUSY = 2, FLAG_CACHED = 4, FLAG_NOT_DELETED = 8 };
enum { OPTION_VERBOSE = 1, OPTION_DIRTY = 2 };

struct device {
	unsigned state;
	unsigned cache;
	unsigned options;
	unsigned encrypted : 1, closing : 1;
	unsigned : 0;
	unsigned mode : 3, level : 5;
};

struct device device = {
	FLAG_OPEN, FLAG_NOT_DELETED, OPTION_VERBOSE, 1, 0, 5, 0
};

NOINLINE static void device_set_open(struct device *dev, int open)
{
	if (open)
		dev->state |= FLAG_OPEN; /* RACE: state_bits */
	else
		dev->state &= ~(unsigned)FLAG_OPEN; /* RACE: state_bits */
}

NOINLINE static void device_toggle_busy(struct device *dev)
{
	dev->state ^= FLAG_BUSY; /* RACE: state_bits */
}

/* DataCollider, figure 4. */
NOINLINE static void device_add_to_cache(struct device *dev)
{
	dev->cache &= ~(unsigned)FLAG_NOT_DELETED; /* RACE: add_to_cache */
	OPAQUE();
	dev->cache |= FLAG_CACHED; /* RACE: add_to_cache */
	__sync_synchronize();
}

NOINLINE static void device_encrypt(struct device *dev, unsigned on)
{
	dev->encrypted = on & 1; /* RACE: fields */
}

NOINLINE static void device_close(struct device *dev, unsigned on)
{
	dev->closing = on & 1; /* RACE: fields */
}

NOINLINE static int device_is_verbose(const struct device *dev)
{
	return (dev->options & OPTION_VERBOSE) != 0; /* RACE: option */
}

NOINLINE static void device_toggle_dirty(struct device *dev)
{
	dev->options ^= OPTION_DIRTY; /* RACE: option */
}

NOINLINE static unsigned device_mode(const struct device *dev)
{
	return dev->mode; /* RACE: level */
}

NOINLINE static void device_set_level(struct device *dev, unsigned level)
{
	dev->level = level & 31; /* RACE: level */
}

static void driver(unsigned long i)
{
	device_set_open(&device, i & 1);
	device_add_to_cache(&device);
	device_encrypt(&device, (unsigned)i);
	if (device_is_verbose(&device))
		use(i);
	use(device_mode(&device));
}

static void interrupt(unsigned long i)
{
	device_toggle_busy(&device);
	device_add_to_cache(&device);
	device_close(&device, (unsigned)i / 2);
	device_toggle_dirty(&device);
	device_set_level(&device, (unsigned)i);
}

int main(int argc, char **argv)
{
	struct role roles[] = { { driver, 40 },
				{ interrupt, 30 },
				{ NULL, 0 } };

	return roles_run(argc, argv, "flags", roles);
}
