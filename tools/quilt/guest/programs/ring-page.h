/* SPDX-License-Identifier: GPL-2.0 */
/* The pages of trace_pipe_raw: see events/header_page and events/header_event */
#ifndef RING_PAGE_H
#define RING_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ring_page {
	uint64_t ts;
	uint64_t commit;
	uint8_t data[];
};

#define MISSED_EVENTS	(1u << 31)
#define MISSED_STORED	(1u << 30)

static inline uint32_t ring_word(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));

	return w;
}

/* Calls @take for each record. Returns what is wrong with the page, or NULL. */
static inline const char *take_page(const struct ring_page *page, size_t size,
				    void (*take)(void *arg, uint64_t ts, const uint8_t *data,
						 uint32_t len), void *arg)
{
	uint32_t end = page->commit & ~(MISSED_EVENTS | MISSED_STORED);
	uint64_t ts = page->ts;
	uint32_t pos, len;

	if (page->commit & MISSED_EVENTS)
		return "the ring buffer has overwritten records: make it larger";
	if (end > size - sizeof(*page))
		return "a page has less data than it says";

	for (pos = 0; pos + 4 <= end; pos += len) {
		const uint8_t *event = page->data + pos;
		uint32_t type_len = ring_word(event) & 0x1f, delta = ring_word(event) >> 5;
		uint64_t time = 0;

		len = 4 + 4 * type_len;
		if ((!type_len || type_len > 28) && pos + 8 <= end) {
			len = type_len >= 30 ? 8 : 4 + ring_word(event + 4);
			time = (uint64_t)ring_word(event + 4) << 27 | delta;
		}

		switch (type_len) {
		case 29:	/* discarded, or nothing more on this page */
			if (!delta)
				return NULL;
			/* 1 stands for 0, which would be the end */
			if (delta > 1)
				ts += delta;
			break;
		case 30:	/* the time since the last event, if it is long */
			ts += time;
			break;
		case 31:	/* the time, but for the topmost bits */
			time |= ts & (~0ULL << 59);
			if (time < ts && ts >> 59)
				time += 1ULL << 59;
			ts = time;
			break;
		default:
			ts += delta;
			if (pos + len > end)
				return "an event is beyond the end of its page";
			if (type_len)
				take(arg, ts, event + 4, len - 4);
			else
				take(arg, ts, event + 8, len - 8);
		}
	}

	return NULL;
}

#endif
