/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A crash as text:
 *
 *	CRASH: racewatch: process 4242 died of SIGSEGV at address 0x8
 *	  thread 4244 "evictor"
 *	    #0  shard_evict   cache.c:12
 *	  races before it, nearest first
 *	    #1 of shards[3].used, 0.4 ms before: in the same function
 */
#ifndef REPORT_TEXT_CRASH_H
#define REPORT_TEXT_CRASH_H

struct crash;
struct error;
struct renderer;

struct error *text_crash(struct renderer *renderer, const struct crash *crash);

#endif
