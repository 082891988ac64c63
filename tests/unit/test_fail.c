// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/fail.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_sentence(void **state)
{
	struct fail fail = { "" };

	(void)state;
	assert_int_equal(fail_set(&fail, EINVAL, "%s: %d", "--cpus", 7), -EINVAL);
	assert_string_equal(fail.text, "--cpus: 7");
}

static void test_nobody_listens(void **state)
{
	(void)state;
	assert_int_equal(fail_set(NULL, ENOSPC, "%s", "x"), -ENOSPC);
}

/* A hostile file name can't move the cursor or break the line; UTF-8 stays. */
static void test_control_characters(void **state)
{
	struct fail fail = { "" };

	(void)state;
	fail_set(&fail, EIO, "cannot read %s", "a\x1b[2J\nb\tc\x7f µ");
	assert_string_equal(fail.text, "cannot read a?[2J?b?c? µ");
}

static void test_long_sentence(void **state)
{
	struct fail fail = { "" };
	char name[2000];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(fail_set(&fail, EIO, "%s", name), -EIO);
	assert_int_equal(strlen(fail.text), sizeof(fail.text) - 1);
}

static void test_status(void **state)
{
	static const struct {
		int error;
		enum exit_status status;
	} rows[] = {
		{ 0, STATUS_OK },
		{ -EINVAL, STATUS_USAGE },
		{ -ERANGE, STATUS_USAGE },
		{ -EBADMSG, STATUS_USAGE },
		{ -EPERM, STATUS_REFUSED },
		{ -EACCES, STATUS_REFUSED },
		{ -ENOSYS, STATUS_REFUSED },
		{ -EOPNOTSUPP, STATUS_REFUSED },
		{ -ENODATA, STATUS_NO_ANSWER },
		{ -EINTR, STATUS_INTERRUPTED },
		{ -EIO, STATUS_IO },
		{ -ENOMEM, STATUS_IO },
		{ -ENOSPC, STATUS_IO },
		{ -EPIPE, STATUS_IO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(fail_status(rows[i].error), rows[i].status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentence),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_long_sentence),
		cmocka_unit_test(test_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
