// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/hdr.h"

#include "base/sink.h"
#include "result/session.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

/* What HdrHistogram 2.1.11 (Java) writes for a histogram of its own with a highest value of 2^42 -
 * 1 and three digits, in which 1, 2047, 2048, 3000000 and 3600000000000 were recorded 1, 2, 3,
 * 5000000000 and 4 times. */
static const char *const theirs =
	"HISTFAAAADB42pNpmSzMwMAgxAABzFCaEcj8DwL2H6AiTD/lWdjeLmNsOLF+gerSw0wcADhdDnA=";

static struct histogram *decoded(const char *text, int wanted)
{
	struct histogram *histogram = histogram_new();

	assert_non_null(histogram);
	histogram_record(histogram, 1, 1); /* what was there must go */
	assert_int_equal(hdr_decode(text, histogram), wanted);
	return histogram;
}

static void check_round_trip(const struct histogram *histogram)
{
	struct strbuf text = STRBUF_INIT;
	struct histogram *back;

	assert_int_equal(hdr_encode(histogram, &text.sink), 0);
	back = decoded(text.text, 0);
	assert_int_equal(back->count, histogram->count);
	assert_memory_equal(back->counts, histogram->counts, sizeof(back->counts));
	histogram_free(back);
	strbuf_free(&text);
}

static void test_round_trip(void **state)
{
	struct histogram *histogram = histogram_new();

	(void)state;
	check_round_trip(histogram);
	for (int64_t value = 1; value < HISTOGRAM_HIGHEST / 3; value = value * 3 / 2 + 1) {
		histogram_record(histogram, value, (uint64_t)value);
		check_round_trip(histogram);
	}
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		histogram_record(histogram, histogram_low(i), (uint64_t)(i * 2654435761U));
	check_round_trip(histogram); /* nothing repeats: the longest text */
	histogram_free(histogram);
}

static void test_theirs(void **state)
{
	struct histogram *histogram = decoded(theirs, 0);

	(void)state;
	assert_int_equal(histogram->count, 5000000010);
	assert_int_equal(histogram->counts[1], 1);
	assert_int_equal(histogram->counts[2047], 2);
	assert_int_equal(histogram->counts[histogram_bucket(2048)], 3);
	assert_int_equal(histogram->counts[histogram_bucket(3000000)], 5000000000);
	assert_int_equal(histogram->counts[histogram_bucket(3600000000000)], 4);
	histogram_free(histogram);
}

static void test_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"A",
		"====",
		"HIST",
		"HISTFAAAAAA=",             /* nothing inside */
		"HISTFAAAADB42pNpmSzMwMAg", /* cut */
		" HISTFAAAADB42pNpmSzMwMAgxAABzFCaEcj8DwL2H6AiTD/lWdjeLmNsOLF+gerSw0wcADhdDnA=",
		"HISTFAAAADB42pNpmSzMwMAgxAABzFCaEcj8DwL2H6AiTD/lWdjeLmNsOLF+gerSw0wcADhdDnA",
		"HISTFAAAADB42pNpmSzMwMAgxAABzFCaEcj8DwL2H6AiTD/lWdjeLmNsOLF+gerSw0wcADhdDnB=",
		"HISTFAAAADB42pNpmSzMwMAgxAABzFCaEcj8DwL2H6AiTD/lWdjeLmNsOLF+gerSw0wcADhdDnA=AAAA",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct histogram *histogram = decoded(rows[i], -EBADMSG);

		assert_int_equal(histogram->count, 0);
		histogram_free(histogram);
	}
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Compresses PLAIN as a field does, with SPARE bytes behind it; free when done. */
static char *field_of(const unsigned char *plain, size_t size, size_t spare)
{
	uLongf packed = compressBound(size);
	unsigned char *data = calloc(1, 8 + packed + spare + 3);
	char *text = malloc(2 * (packed + spare + 16)), *at = text;

	assert_true(data && text);
	assert_int_equal(compress2(data + 8, &packed, plain, size, 9), Z_OK);
	packed += spare;
	memcpy(data, "\x1c\x84\x93\x14", 4);
	for (int i = 0; i < 4; i++)
		data[4 + i] = (unsigned char)(packed >> (24 - 8 * i));
	for (size_t i = 0; i < 8 + packed; i += 3) {
		unsigned bits = (unsigned)data[i] << 16 | (unsigned)data[i + 1] << 8 | data[i + 2];

		for (int k = 0; k < 4; k++)
			*at++ = i + (size_t)k > 8 + packed ? '='
							   : letters[bits >> (18 - 6 * k) & 63];
	}
	*at = '\0';
	free(data);
	return text;
}

/* A header with one sample of 1 ns behind it: each of its bytes changed in turn. Only those of the
 * highest value may be what they like. */
static void test_header(void **state)
{
	unsigned char plain[42] = { 0x1c, 0x84, 0x93, 0x13, 0,    0,    0, 2, 0, 0, 0, 0, 0, 0,
				    0,    3,    0,    0,    0,    0,    0, 0, 0, 1, 0, 0, 3, 0xff,
				    0xff, 0xff, 0xff, 0xff, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 2 };

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		bool highest = i > 24 && i < 32;
		char *text;

		plain[i] ^= 0x81;
		text = field_of(plain, sizeof(plain), 0);
		histogram_free(decoded(text, highest ? 0 : -EBADMSG));
		plain[i] ^= 0x81;
		free(text);
		text = field_of(plain, i, 0); /* cut */
		histogram_free(decoded(text, -EBADMSG));
		free(text);
		text = field_of(plain, sizeof(plain), i); /* something behind it */
		histogram_free(decoded(text, i ? -EBADMSG : 0));
		free(text);
	}
}

/* Each character changed in turn: refused (zlib's checksum sees it), or the same counts. */
static void test_damaged(void **state)
{
	size_t length = strlen(theirs);

	(void)state;
	for (size_t i = 0; i < length; i++) {
		struct histogram *histogram = histogram_new();
		char *text = strdup(theirs);

		assert_non_null(text);
		text[i] = text[i] == 'A' ? 'B' : 'A';
		assert_int_equal(hdr_decode(text, histogram), -EBADMSG);
		assert_int_equal(histogram->count, 0);
		free(text);
		histogram_free(histogram);
	}
}

/* Texts that unpack to far more than any histogram (zeroes shrink a thousandfold), or are far
 * longer. */
static void test_bomb(void **state)
{
	const size_t size = 100000000;
	unsigned char *plain = calloc(1, size);
	char *text;

	(void)state;
	assert_non_null(plain);
	text = field_of(plain, size, 0);
	histogram_free(decoded(text, -EBADMSG));
	free(text);
	memset(plain, 'A', size - 1);
	histogram_free(decoded((const char *)plain, -EBADMSG));
	free(plain);
}

static struct session *make_session(void)
{
	struct session *session = calloc(1, sizeof(*session));

	assert_non_null(session);
	session->cpus = calloc(2, sizeof(*session->cpus));
	assert_non_null(session->cpus);
	session->started_wall_ns = 1796097579123456789;
	session->duration_ns = 20000499999;
	session->settings.pinned = true;
	session->cpu_count = 2;
	session->all.cpu = -1;
	session->all.histogram = histogram_new();
	for (int i = 0; i < 2; i++) {
		session->cpus[i].cpu = 3 * i;
		session->cpus[i].histogram = histogram_new();
		histogram_record(session->cpus[i].histogram, 1234567 * (i + 1), 10);
		histogram_merge(session->all.histogram, session->cpus[i].histogram);
	}
	return session;
}

static void free_session(struct session *session)
{
	for (size_t i = 0; i < session->cpu_count; i++)
		histogram_free(session->cpus[i].histogram);
	histogram_free(session->all.histogram);
	free(session->cpus);
	free(session);
}

/* The line that starts at *AT: must begin with START; what follows, as a histogram, must have COUNT
 * samples. Moves *AT to the next. */
static void check_line(char **at, const char *start, uint64_t count)
{
	char *end = strchr(*at, '\n');
	struct histogram *histogram;

	assert_non_null(end);
	*end = '\0';
	assert_memory_equal(*at, start, strlen(start));
	histogram = decoded(*at + strlen(start), 0);
	assert_int_equal(histogram->count, count);
	histogram_free(histogram);
	*at = end + 1;
}

static void test_log(void **state)
{
	static const char head[] =
		"#[Logged with punctual " PUNCTUAL_VERSION "]\n"
		"#[Histogram log format version 1.3]\n"
		"#[StartTime: 1796097579.123 (seconds since epoch), Tue Dec 01 03:59:39 UTC 2026]\n"
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
		"\"Interval_Compressed_Histogram\"\n";
	struct session *session = make_session();
	struct strbuf text = STRBUF_INIT;
	char *at;

	(void)state;
	assert_int_equal(hdr_write_log(session, &text.sink), 0);
	assert_memory_equal(text.text, head, sizeof(head) - 1);
	at = text.text + sizeof(head) - 1;
	check_line(&at, "0.000,20.000,2.469,", 20);
	check_line(&at, "Tag=cpu0,0.000,20.000,1.235,", 10);
	check_line(&at, "Tag=cpu3,0.000,20.000,2.469,", 10);
	assert_int_equal(*at, '\0');
	strbuf_free(&text);
	free_session(session);
}

static void test_log_of_threads(void **state)
{
	struct session *session = make_session();
	struct strbuf text = STRBUF_INIT;

	(void)state;
	session->settings.pinned = false;
	histogram_reset(session->cpus[0].histogram); /* ended before its first sample */
	assert_int_equal(hdr_write_log(session, &text.sink), 0);
	assert_non_null(strstr(text.text, "\nTag=thread0,0.000,20.000,0.000,HISTF"));
	assert_non_null(strstr(text.text, "\nTag=thread3,0.000,20.000,2.469,HISTF"));
	strbuf_free(&text);
	free_session(session);
}

struct full_sink {
	struct sink sink;
	size_t room;
};

static int write_until_full(struct sink *sink, const char *data, size_t size)
{
	struct full_sink *full = (struct full_sink *)sink;

	(void)data;
	if (size > full->room)
		return -ENOSPC;
	full->room -= size;
	return 0;
}

static void test_full_disk(void **state)
{
	struct session *session = make_session();

	(void)state;
	for (size_t room = 0; room < 500; room += 37) {
		struct full_sink full = { .sink = { .write = write_until_full }, .room = room };

		assert_int_equal(hdr_write_log(session, &full.sink), -ENOSPC);
	}
	free_session(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_theirs),
		cmocka_unit_test(test_refused),    cmocka_unit_test(test_header),
		cmocka_unit_test(test_damaged),    cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_log),        cmocka_unit_test(test_log_of_threads),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
