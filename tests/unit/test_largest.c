// SPDX-License-Identifier: GPL-2.0-or-later
#include "stat/largest.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RUN 30000

static int64_t random_latency(size_t i)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15U;

	return (int64_t)((x ^ x >> 29) % 1000003);
}

static int64_t rising(size_t i)
{
	return (int64_t)i;
}

static int64_t falling(size_t i)
{
	return RUN - (int64_t)i;
}

static int64_t all_alike(size_t i)
{
	(void)i;
	return 5;
}

static int64_t few_values(size_t i)
{
	return (int64_t)(i % 7);
}

static int64_t saw(size_t i)
{
	return (int64_t)(i % 4096) * (i % 2 ? 1 : -1);
}

static int64_t one_spike(size_t i)
{
	return i == 3 ? 1000000 : 0;
}

static int downwards(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (y > x) - (y < x);
}

static struct largest largest;
static struct timed_latency sorted[LARGEST_MAX];
static int64_t all[RUN];

/* The same latencies as sorting everything gives, each with the time it came at. */
static void check(int64_t (*latency)(size_t), size_t count)
{
	size_t wanted = count < LARGEST_MAX ? count : LARGEST_MAX;

	largest = (struct largest){ 0 };
	for (size_t i = 0; i < count; i++) {
		all[i] = latency(i);
		largest_record(&largest, (int64_t)i, all[i]);
	}
	qsort(all, count, sizeof(all[0]), downwards);
	/* unmeasured ones are worth nothing: only those that were early can be missing */
	while (wanted && all[wanted - 1] < 0)
		wanted--;
	assert_true(largest_sorted(&largest, sorted) >= wanted);
	for (size_t i = 0; i < wanted; i++) {
		assert_int_equal(sorted[i].latency_ns, all[i]);
		assert_int_equal(latency((size_t)sorted[i].time_ns), sorted[i].latency_ns);
		if (i && sorted[i - 1].latency_ns == sorted[i].latency_ns)
			assert_true(sorted[i - 1].time_ns < sorted[i].time_ns);
	}
}

static void test_against_sorting(void **state)
{
	static int64_t (*const kinds[])(size_t) = { random_latency, rising, falling,  all_alike,
						    few_values,     saw,    one_spike };
	static const size_t counts[] = { 0, 1, 2, 2047, 2048, 2049, 4095, 4096, 4097, RUN };

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			check(kinds[k], counts[i]);
	}
}

/* The sampler records without looking: the room must never be left. */
static void test_stays_in_its_room(void **state)
{
	struct guarded {
		struct largest largest;
		uint64_t guard;
	} *guarded = calloc(1, sizeof(*guarded));

	(void)state;
	assert_non_null(guarded);
	guarded->guard = 0x5a5a5a5a5a5a5a5a;
	for (int64_t i = 0; i < 200000; i++) {
		largest_record(&guarded->largest, i, i);
		assert_true(guarded->largest.count <= LARGEST_MAX);
	}
	assert_true(guarded->guard == 0x5a5a5a5a5a5a5a5a);
	free(guarded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_sorting),
		cmocka_unit_test(test_stays_in_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
