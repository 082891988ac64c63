// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/largest.h"
#include "store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ZigZag LEB128, as in stat/histogram: small magnitudes of either sign take few bytes. */
static size_t put(unsigned char *data, int64_t value)
{
	uint64_t rest = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
	size_t size = 0;

	for (; rest > 0x7f; rest >>= 7)
		data[size++] = (unsigned char)(rest | 0x80);
	data[size++] = (unsigned char)rest;
	return size;
}

static int take(const unsigned char **at, const unsigned char *end, int64_t *value)
{
	uint64_t sum = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		unsigned char byte = *(*at)++;

		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = (int64_t)(sum >> 1) ^ -(int64_t)(sum & 1);
			return 0;
		}
	}
	return -EBADMSG;
}

static int by_time(const void *a, const void *b)
{
	const struct timed_latency *left = a, *right = b;

	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

/* The list before it is deflated. */
#define LIST_MAX ((size_t)10 * (1 + 2 * LARGEST_MAX))

static size_t write_list(const struct largest *largest, unsigned char *data)
{
	struct timed_latency sorted[LARGEST_MAX];
	size_t size = put(data, (int64_t)largest->count);
	int64_t before = 0;

	memcpy(sorted, largest->items, largest->count * sizeof(sorted[0]));
	qsort(sorted, largest->count, sizeof(sorted[0]), by_time);
	for (size_t i = 0; i < largest->count; i++) {
		size += put(data + size, sorted[i].time_ns - before);
		size += put(data + size, sorted[i].latency_ns);
		before = sorted[i].time_ns;
	}
	return size;
}

static int read_list(struct largest *largest, const unsigned char *data, size_t size)
{
	const unsigned char *end = data + size;
	int64_t count, time = 0;

	if (take(&data, end, &count) || count < 0 || count > LARGEST_MAX)
		return -EBADMSG;
	*largest = (struct largest){ 0 };
	for (int64_t i = 0; i < count; i++) {
		int64_t difference, latency;

		if (take(&data, end, &difference) || take(&data, end, &latency) ||
		    __builtin_add_overflow(time, difference, &time))
			return -EBADMSG;
		largest_insert(largest, (struct timed_latency){ time, latency });
	}
	return data == end ? 0 : -EBADMSG;
}

size_t pack_largest_bound(void)
{
	return compressBound(LIST_MAX);
}

int pack_largest(const struct largest *largest, unsigned char *data, size_t *size)
{
	unsigned char *list = malloc(LIST_MAX);
	uLongf packed = *size;
	int rc;

	if (!list)
		return -ENOMEM;
	rc = compress2(data, &packed, list, write_list(largest, list), Z_DEFAULT_COMPRESSION);
	free(list);
	*size = packed;
	return rc == Z_OK ? 0 : -ENOMEM;
}

int unpack_largest(struct largest *largest, const unsigned char *data, size_t size)
{
	unsigned char *list = malloc(LIST_MAX);
	uLongf length = LIST_MAX;
	int err;

	if (!list)
		return -ENOMEM;
	switch (uncompress(list, &length, data, size)) {
	case Z_OK:
		err = read_list(largest, list, length);
		break;
	case Z_MEM_ERROR:
		err = -ENOMEM;
		break;
	default:
		err = -EBADMSG;
	}
	free(list);
	return err;
}
