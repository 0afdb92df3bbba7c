/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread's chunk is written when it is full; with a window, it is kept until
 * the thread ends, or newer ones take its room.
 */
#include "recorder/stream.h"

#include "recorder/os.h"
#include "recorder/packer.h"
#include "recorder/recorder.h"

/* Ids of what is in the buffer besides events: entering and leaving. */
enum { STREAM_HIDE = 64, STREAM_SHOW };

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

void stream_init(struct stream *stream, uint64_t window, const char *folder)
{
	stream->on = true;
	stream->window = window;
	stream->words = os_map(STREAM_WORDS * sizeof(*stream->words));
	stream->cursor = address_of(stream->words);
	stream->limit = address_of(stream->words + STREAM_WORDS - STREAM_SPARE);
	superblocks_init(&stream->superblocks);
	channels_init(&stream->channels, folder);
}

void stream_deinit(struct stream *stream)
{
	if (!stream->on)
		return;
	os_unmap(stream->words, STREAM_WORDS * sizeof(*stream->words));
	superblocks_deinit(&stream->superblocks);
	channels_deinit(&stream->channels);
	stream->on = false;
}

static void write_bytes(struct recorder *recorder,
			const struct trace_stream *head,
			const unsigned char *bytes)
{
	writer_chunk(&recorder->writer, TRACE_STREAM, head, sizeof(*head),
		     bytes, head->size);
}

static void drop_oldest(struct stream_thread *of)
{
	struct stream_kept *oldest = of->oldest;

	of->oldest = oldest->next;
	if (!of->oldest)
		of->newest = NULL;
	of->kept -= oldest->head.size;
	of->totals.dropped += oldest->head.steps;
	os_free(oldest);
}

static void keep(struct stream_thread *of, uint64_t window)
{
	const struct packer *packer = of->packer;
	struct stream_kept *kept = os_alloc(sizeof(*kept) + packer->head.size);

	kept->head = packer->head;
	os_copy(kept->bytes, packer->bytes, packer->head.size);
	if (of->newest)
		of->newest->next = kept;
	else
		of->oldest = kept;
	of->newest = kept;
	of->kept += kept->head.size;
	/* at least the window stays, and less than a chunk more */
	while (of->kept - of->oldest->head.size >= window)
		drop_oldest(of);
}

/* What its packer has; it is empty then. */
static void end_chunk(struct recorder *recorder, struct stream_thread *of)
{
	struct packer *packer = of->packer;

	packer_end(packer);
	if (packer->head.size == 0)
		return;
	of->totals.bytes += packer->head.size;
	of->totals.steps += packer->head.steps;
	of->totals.instructions += packer->head.instructions;
	if (recorder->stream.window > 0)
		keep(of, recorder->stream.window);
	else
		write_bytes(recorder, &packer->head, packer->bytes);
	packer->head.size = 0;
}

static void begin_chunk(struct recorder *recorder, struct thread *thread,
			uint64_t sequence)
{
	struct stream_thread *of = &thread->stream;

	packer_begin(of->packer, thread->id, recorder->stream.steps + 1,
		     sequence);
	of->sequence = sequence;
}

/* A chunk that has room for a step with this number of words, or for an event. */
static struct packer *get_packer(struct recorder *recorder,
				 struct thread *thread, uint32_t words,
				 uint64_t sequence)
{
	struct stream_thread *of = &thread->stream;

	if (!of->packer) {
		of->packer = os_map(sizeof(*of->packer));
		begin_chunk(recorder, thread, sequence);
	} else if (!packer_has_room(of->packer, words)) {
		end_chunk(recorder, of);
		begin_chunk(recorder, thread, sequence);
	}
	return of->packer;
}

/* The next step is not the one after its last one: others ran, or were counted. */
static void note_others(const struct recorder *recorder,
			struct stream_thread *of, uint64_t sequence)
{
	const uint64_t numbers[2] = {
		recorder->stream.steps - of->packer->head.last,
		sequence - of->sequence,
	};

	if (numbers[0] != 0 || numbers[1] != 0)
		packer_event(of->packer, TRACE_RESUMED, numbers);
}

/* next: the sequence number at its end. */
static void take_step(struct recorder *recorder, struct thread *thread,
		      const uint64_t *raw, uint64_t next)
{
	struct superblock *superblock = superblock_at(
		&recorder->stream.superblocks, (uint32_t)(raw[0] >> 16));
	struct packer_step step = { .id = superblock->id,
				    .exit = raw[0] & 0xffff,
				    .accesses = next - raw[1],
				    .words = raw + STREAM_HEAD };
	struct stream_thread *of = &thread->stream;
	struct packer *packer =
		get_packer(recorder, thread, superblock->head.words, raw[1]);

	superblock_write(superblock, &recorder->writer);
	if (step.exit >= superblock->head.exits) {
		const uint64_t id = superblock->id;

		packer_event(packer, TRACE_BROKEN, &id);
		return;
	}
	step.count = superblock->exits[step.exit].words + 1u;
	step.instructions = superblock->exits[step.exit].instructions;
	note_others(recorder, of, raw[1]);
	packer_step(packer, &step);
	recorder->stream.steps++;
	of->sequence = next;
}

static uint32_t words_of(const struct stream *stream, const uint64_t *raw)
{
	static const uint8_t count[] = TRACE_STREAM_NUMBERS;
	uint32_t id = (uint32_t)(raw[0] >> 16);

	if (id != 0)
		return STREAM_HEAD +
		       superblock_at(&stream->superblocks, id)->head.words;
	return raw[0] < STREAM_HIDE ? 1u + count[raw[0]] : 1;
}

static void take_event(struct recorder *recorder, struct thread *thread,
		       const uint64_t *raw)
{
	struct stream_thread *of = &thread->stream;
	struct packer *packer;

	if (raw[0] == STREAM_HIDE) {
		of->hidden++;
	} else if (raw[0] == STREAM_SHOW) {
		of->hidden -= of->hidden > 0;
	} else {
		packer = get_packer(recorder, thread, TRACE_STREAM_NUMBERS_MAX,
				    of->sequence);
		note_others(recorder, of, of->sequence);
		packer_event(packer, (enum trace_stream_event)raw[0], raw + 1);
	}
}

/* The sequence number that the next step at or behind `at' begins with. */
static uint64_t next_sequence(const struct recorder *recorder,
			      const uint64_t *at, const uint64_t *end)
{
	while (at < end && at[0] >> 16 == 0)
		at += words_of(&recorder->stream, at);
	return at < end ? at[1] : recorder->sequence;
}

void stream_drain(struct recorder *recorder)
{
	struct stream *stream = &recorder->stream;
	struct thread *thread = recorder->current;
	const uint64_t *at = stream->words;
	const uint64_t *end = (const uint64_t *)(uintptr_t)stream->cursor;

	while (thread && at < end) {
		const uint64_t *next = at + words_of(stream, at);

		if (at[0] >> 16 == 0)
			take_event(recorder, thread, at);
		else if (thread->stream.hidden == 0)
			take_step(recorder, thread, at,
				  next_sequence(recorder, next, end));
		at = next;
	}
	stream->cursor = address_of(stream->words);
}

/* The last step in the buffer; NULL: there is none. */
static uint64_t *last_step(struct stream *stream)
{
	uint64_t *end = (uint64_t *)(uintptr_t)stream->cursor, *last = NULL;

	for (uint64_t *at = stream->words; at < end;
	     at += words_of(stream, at)) {
		if (at[0] >> 16 != 0)
			last = at;
	}
	return last;
}

/* How many instructions of the superblock are before the address. */
static uint32_t count_before(const struct superblock *superblock,
			     uint64_t address)
{
	const uint8_t *lengths =
		(const void *)(superblock->exits + superblock->head.exits);
	uint64_t at = superblock->head.address;
	uint32_t i = 0;

	while (i < superblock->head.instructions && at < address)
		at += lengths[i++];
	return i;
}

/* The step becomes one of another superblock, which has fewer words. */
static void replace_step(struct stream *stream, uint64_t *step,
			 const struct superblock *superblock)
{
	const uint64_t *rest = step + words_of(stream, step);
	const uint64_t *end = (const uint64_t *)(uintptr_t)stream->cursor;
	uint64_t *to;

	step[0] = (uint64_t)superblock->id << 16;
	to = step + words_of(stream, step);
	while (rest < end)
		*to++ = *rest++;
	stream->cursor = address_of(to);
}

void stream_broken(struct recorder *recorder, uint64_t ip, bool done)
{
	struct stream *stream = &recorder->stream;
	uint64_t *step = stream->on ? last_step(stream) : NULL;
	const struct superblock *superblock;
	uint32_t executed;

	if (!step || (step[0] & 0xffff) != STREAM_BROKEN)
		return;
	superblock =
		superblock_at(&stream->superblocks, (uint32_t)(step[0] >> 16));
	executed = count_before(superblock, ip) + done;
	if (ip < superblock->head.address || executed == 0)
		return;
	superblock =
		superblocks_cut(&stream->superblocks, superblock, executed);
	if (superblock)
		replace_step(stream, step, superblock);
}

static void put_raw(struct stream *stream, uint64_t kind,
		    const uint64_t *numbers, uint32_t count)
{
	uint64_t *to = (uint64_t *)(uintptr_t)stream->cursor;

	/* of one step there are few: they find room, or the program is odd */
	if (to + 1 + count > stream->words + STREAM_WORDS)
		return;
	*to++ = kind;
	for (uint32_t i = 0; i < count; i++)
		*to++ = numbers[i];
	stream->cursor = address_of(to);
}

void stream_event(struct recorder *recorder, enum trace_stream_event event,
		  const uint64_t *numbers)
{
	static const uint8_t count[] = TRACE_STREAM_NUMBERS;

	if (recorder->stream.on)
		put_raw(&recorder->stream, (uint64_t)event, numbers,
			count[event]);
}

/* Words of a step that take as much room as the events. */
enum { EVENT_WORDS = TRACE_STREAM_NUMBERS_MAX + 1, PART_WORDS = 4 };

void stream_moved(struct recorder *recorder, struct thread *thread,
		  const uint64_t *numbers, const struct stream_part *parts,
		  uint32_t count)
{
	struct thread *current = recorder->current;
	struct stream_thread *of = &thread->stream;
	struct packer *packer;

	if (!recorder->stream.on)
		return;
	stream_drain(recorder);
	recorder->current = thread;
	if (count > STREAM_PARTS_MAX)
		count = STREAM_PARTS_MAX;
	packer = get_packer(recorder, thread, EVENT_WORDS + PART_WORDS * count,
			    of->sequence);
	note_others(recorder, of, of->sequence);
	for (uint32_t i = 0; i < count; i++)
		packer_event(packer, TRACE_MOVED_PART,
			     (const uint64_t[]){ parts[i].address,
						 parts[i].size,
						 parts[i].value });
	packer_event(packer, TRACE_MOVED, numbers);
	recorder->current = current;
}

void stream_hide(struct recorder *recorder, bool hidden)
{
	if (recorder->stream.on)
		put_raw(&recorder->stream, hidden ? STREAM_HIDE : STREAM_SHOW,
			NULL, 0);
}

static void write_kept(struct recorder *recorder, struct stream_thread *of)
{
	while (of->oldest) {
		struct stream_kept *kept = of->oldest;

		write_bytes(recorder, &kept->head, kept->bytes);
		of->oldest = kept->next;
		os_free(kept);
	}
	of->newest = NULL;
	of->kept = 0;
}

static void flush_thread(struct recorder *recorder, struct thread *thread)
{
	struct stream_thread *of = &thread->stream;

	if (!of->packer)
		return;
	end_chunk(recorder, of);
	write_kept(recorder, of);
	of->totals.thread = thread->id;
	writer_chunk(&recorder->writer, TRACE_STREAM_END, &of->totals,
		     sizeof(of->totals), NULL, 0);
	begin_chunk(recorder, thread, of->sequence);
}

static void free_packer(struct stream_thread *of)
{
	if (of->packer)
		os_unmap(of->packer, sizeof(*of->packer));
	of->packer = NULL;
}

void stream_end(struct recorder *recorder, struct thread *thread)
{
	if (!recorder->stream.on)
		return;
	if (recorder->current == thread)
		stream_drain(recorder);
	flush_thread(recorder, thread);
	free_packer(&thread->stream);
}

void stream_flush(struct recorder *recorder)
{
	if (!recorder->stream.on)
		return;
	stream_drain(recorder);
	for (uint32_t id = 1; id <= recorder->threads.count; id++)
		flush_thread(recorder, records_at(&recorder->threads, id));
}

/* Forget what is in its buffers. */
static void clear_thread(struct stream_thread *of)
{
	while (of->oldest)
		drop_oldest(of);
	free_packer(of);
	*of = (struct stream_thread){ .hidden = of->hidden };
}

void stream_fork(struct recorder *recorder)
{
	struct stream *stream = &recorder->stream;

	if (!stream->on)
		return;
	for (uint32_t id = 1; id <= recorder->threads.count; id++) {
		struct thread *thread = records_at(&recorder->threads, id);

		clear_thread(&thread->stream);
	}
	stream->cursor = address_of(stream->words);
	stream->steps = 0;
	superblocks_forget_written(&stream->superblocks);
	channels_forget_written(&stream->channels);
}
