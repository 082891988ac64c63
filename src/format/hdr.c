// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/hdr.h"

#include "base/sink.h"
#include "result/session.h"
#include "stat/histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#define COOKIE_COUNTS     0x1c849313U /* V2, counts as ZigZag LEB128 */
#define COOKIE_COMPRESSED 0x1c849314U
#define OUTER_SIZE        8
#define HEADER_SIZE       40
#define COUNT_SIZE_MAX    9
#define DIGITS            3
#define LOWEST            1
#define RATIO_ONE         0x3ff0000000000000U /* 1.0: values are whole nanoseconds */
#define PLAIN_MAX         (HEADER_SIZE + (size_t)HISTOGRAM_BUCKETS * COUNT_SIZE_MAX)

static void put(unsigned char *at, uint64_t value, unsigned bytes)
{
	while (bytes--) {
		at[bytes] = (unsigned char)value;
		value >>= 8;
	}
}

static uint64_t get(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static void put_header(unsigned char *at, size_t payload)
{
	put(at, COOKIE_COUNTS, 4);
	put(at + 4, payload, 4);
	put(at + 8, 0, 4); /* normalizing index offset */
	put(at + 12, DIGITS, 4);
	put(at + 16, LOWEST, 8);
	put(at + 24, (uint64_t)HISTOGRAM_HIGHEST, 8);
	put(at + 32, RATIO_ONE, 8);
}

/* Any highest value will do: the buckets below it are the same. */
static bool header_is_ours(const unsigned char *at, size_t payload)
{
	uint64_t highest = get(at + 24, 8);

	return get(at, 4) == COOKIE_COUNTS && get(at + 4, 4) == payload && get(at + 8, 4) == 0 &&
	       get(at + 12, 4) == DIGITS && get(at + 16, 8) == LOWEST && highest >= 2 * LOWEST &&
	       highest <= INT64_MAX && get(at + 32, 8) == RATIO_ONE;
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void write_base64(struct sink *sink, const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i += 3) {
		size_t have = size - i < 3 ? size - i : 3;
		uint32_t bits = 0;
		char text[4];

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < have ? data[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			text[k] = k <= have ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
		sink_write(sink, text, sizeof(text));
	}
}

/* Reads four characters; returns how many bytes they stand for, 0 where they are not base64. */
static size_t read_four(const char *text, bool last, unsigned char *data)
{
	size_t letters = 4;
	uint32_t bits = 0;

	while (last && letters > 2 && text[letters - 1] == '=')
		letters--;
	for (size_t k = 0; k < 4; k++) {
		const char *place = k < letters ? strchr(alphabet, text[k]) : alphabet;

		if (!place)
			return 0;
		bits = bits << 6 | (uint32_t)(place - alphabet);
	}
	if (bits & ((1U << (8 * (4 - letters))) - 1))
		return 0; /* bits that stand for nothing: there is one way to write a value */
	for (size_t k = 0; k < letters - 1; k++)
		data[k] = (unsigned char)(bits >> (16 - 8 * k));
	return letters - 1;
}

/* DATA holds 3/4 of LENGTH. */
static bool read_base64(const char *text, size_t length, unsigned char *data, size_t *size)
{
	*size = 0;
	if (length % 4)
		return false;
	for (size_t i = 0; i < length; i += 4) {
		size_t got = read_four(text + i, i + 4 == length, data + *size);

		if (!got)
			return false;
		*size += got;
	}
	return true;
}

int hdr_encode(const struct histogram *histogram, struct sink *sink)
{
	size_t payload = histogram_encode(histogram, NULL, 0), plain_size = HEADER_SIZE + payload;
	uLongf packed_size = compressBound(plain_size);
	unsigned char *plain = malloc(plain_size), *packed = malloc(OUTER_SIZE + packed_size);
	int err = -ENOMEM;

	if (!plain || !packed)
		goto out;
	put_header(plain, payload);
	histogram_encode(histogram, plain + HEADER_SIZE, payload);
	if (compress2(packed + OUTER_SIZE, &packed_size, plain, plain_size, Z_BEST_COMPRESSION) !=
	    Z_OK)
		goto out; /* memory is all it can want: the room suffices */
	put(packed, COOKIE_COMPRESSED, 4);
	put(packed + 4, packed_size, 4);
	write_base64(sink, packed, OUTER_SIZE + packed_size);
	err = sink->error;
out:
	free(plain);
	free(packed);
	return err;
}

/* Unpacks into PLAIN, PLAIN_MAX bytes; no more than a histogram can need is accepted. */
static int unpack(const unsigned char *packed, size_t size, unsigned char *plain,
		  size_t *plain_size)
{
	z_stream stream = { 0 };
	int result;

	if (inflateInit(&stream) != Z_OK)
		return -ENOMEM;
	stream.next_in = (unsigned char *)(uintptr_t)packed; /* which zlib does not write to */
	stream.avail_in = (uInt)size;
	stream.next_out = plain;
	stream.avail_out = PLAIN_MAX;
	result = inflate(&stream, Z_FINISH);
	*plain_size = PLAIN_MAX - stream.avail_out;
	inflateEnd(&stream);
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	return result == Z_STREAM_END && stream.avail_in == 0 ? 0 : -EBADMSG;
}

static int decode_packed(const unsigned char *packed, size_t size, unsigned char *plain,
			 struct histogram *histogram)
{
	size_t plain_size;
	int err;

	if (size < OUTER_SIZE || get(packed, 4) != COOKIE_COMPRESSED ||
	    get(packed + 4, 4) != size - OUTER_SIZE)
		return -EBADMSG;
	err = unpack(packed + OUTER_SIZE, size - OUTER_SIZE, plain, &plain_size);
	if (err)
		return err;
	if (plain_size < HEADER_SIZE || !header_is_ours(plain, plain_size - HEADER_SIZE))
		return -EBADMSG;
	return histogram_decode(histogram, plain + HEADER_SIZE, plain_size - HEADER_SIZE);
}

int hdr_decode(const char *base64, struct histogram *histogram)
{
	size_t length = strlen(base64), size;
	unsigned char *packed, *plain;
	int err = -ENOMEM;

	histogram_reset(histogram);
	if (length / 4 * 3 > OUTER_SIZE + compressBound(PLAIN_MAX) + 3)
		return -EBADMSG;
	packed = malloc(length / 4 * 3 + 1);
	plain = malloc(PLAIN_MAX);
	if (!packed || !plain)
		goto out;
	err = read_base64(base64, length, packed, &size)
		      ? decode_packed(packed, size, plain, histogram)
		      : -EBADMSG;
out:
	free(packed);
	free(plain);
	return err;
}

/* The reader takes the number and ignores the words, which are Java's Date.toString. */
static void write_start(const struct session *session, struct sink *sink)
{
	int64_t ms = session->started_wall_ns / 1000000;
	time_t seconds = (time_t)(ms / 1000);
	char words[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
	    !strftime(words, sizeof(words), "%a %b %d %H:%M:%S UTC %Y", &tm))
		words[0] = '\0';
	sink_printf(sink, "#[StartTime: %" PRId64 ".%03d (seconds since epoch), %s]\n", ms / 1000,
		    (int)(ms % 1000), words);
}

/* Seconds and milliseconds are both thousands of something: three decimals, rounded. */
static void write_thousands(struct sink *sink, int64_t value, int64_t thousandth)
{
	int64_t rounded = value / thousandth + (value % thousandth >= thousandth / 2);

	sink_printf(sink, "%" PRId64 ".%03d,", rounded / 1000, (int)(rounded % 1000));
}

static int write_line(const struct session *session, const struct cpu_result *result,
		      const char *tag, struct sink *sink)
{
	const struct histogram *histogram = result->histogram;
	int64_t max = histogram->count && histogram->max > 0 ? histogram->max : 0;
	int err;

	if (tag)
		sink_printf(sink, "Tag=%s%d,", tag, result->cpu);
	sink_text(sink, "0.000,");
	write_thousands(sink, session->duration_ns, 1000000);
	write_thousands(sink, max, 1000);
	err = hdr_encode(histogram, sink);
	sink_text(sink, "\n");
	return err;
}

int hdr_write_log(const struct session *session, struct sink *sink)
{
	const char *tag = session->settings.pinned ? "cpu" : "thread";
	int err = 0;

	sink_text(sink, "#[Logged with punctual " PUNCTUAL_VERSION "]\n"
			"#[Histogram log format version 1.3]\n");
	write_start(session, sink);
	sink_text(sink, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
			"\"Interval_Compressed_Histogram\"\n");
	if (session->all.histogram)
		err = write_line(session, &session->all, NULL, sink);
	for (size_t i = 0; i < session->cpu_count && !err; i++) {
		if (session->cpus[i].histogram)
			err = write_line(session, &session->cpus[i], tag, sink);
	}
	return err ? err : sink->error;
}
