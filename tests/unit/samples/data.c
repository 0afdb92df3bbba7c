/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Variables of all shapes, to be named by their addresses. Never run.
 */
#include <stdatomic.h>
#include <stdint.h>

struct shard {
	long capacity;
	long used;
	struct {
		int low, high;
	};
	union {
		uint64_t word;
		uint8_t bytes[8];
	};
	struct {
		char name[16];
	} tag;
};

struct bits {
	unsigned busy : 3;
	unsigned level : 7;
	unsigned rest : 22;
	unsigned char plain;
	unsigned long wide : 40;
};

struct tail {
	int count;
	int items[];
};

typedef struct {
	int x, y;
} point;

struct shard shards[8];
struct bits state;
int matrix[3][4][5];
point origin;
struct tail tail = { 3, { 1, 2, 3 } };
uint32_t counter;
volatile int flag;
struct {
	int plain;
	volatile int hot;
	_Atomic long ticks;
} mixed;
_Atomic int atomic_counter;
volatile int *pointer_to_volatile;
static const char *private_name = "x";
void (*callback)(int);

int next_id(void)
{
	static int last_id;

	return ++last_id;
}

int main(void)
{
	return next_id() + (int)(intptr_t)private_name;
}
