// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "board/usage.h"

static void faults_stand_behind_any_name(void **state)
{
	(void)state;
	assert_int_equal(thread_stat_faults("7 (a) S 1 2 3 4 5 6 100 8 20 10 11 12"), 120);
	assert_int_equal(thread_stat_faults("7 (x) 9 (y) z) S 1 2 3 4 5 6 100 8 20 10"), 120);
	assert_int_equal(thread_stat_faults("7 (a) S 1 2 3 4 5 6"), -1);
	assert_int_equal(thread_stat_faults("7 (a) S 1 2 3 4 5 6 x 8 y"), -1);
	assert_int_equal(thread_stat_faults(")"), -1);
	assert_int_equal(thread_stat_faults(""), -1);
}

static void steal_goes_by_cpu_number(void **state)
{
	static const char text[] = "cpu  1 2 3 4 5 6 7 900 9 10\n"
				   "cpu0 1 2 3 4 5 6 7 8 9 10\n"
				   "cpu12 1 2 3 4 5 6 7 80 9 10\n"
				   "cpu13 1 2 3 4\n"
				   "intr 1 2 3\n"
				   "cpu0 1 2 3 4 5 6 7 7777 9 10\n";
	const int cpus[] = { 12, 0, 13, 1, -1 };
	int64_t steal[5];

	(void)state;
	cpu_steal_parse(text, cpus, 5, 100, steal);
	assert_int_equal(steal[0], 800000000);
	assert_int_equal(steal[1], 80000000);
	assert_int_equal(steal[2], -1); /* a kernel that does not count it */
	assert_int_equal(steal[3], -1); /* only looks like it: the line of all CPUs */
	assert_int_equal(steal[4], -1); /* a thread that is not pinned */
	cpu_steal_parse("", cpus, 5, 100, steal);
	assert_int_equal(steal[0], -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_stand_behind_any_name),
		cmocka_unit_test(steal_goes_by_cpu_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
