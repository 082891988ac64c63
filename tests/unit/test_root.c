// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/root.h"

#include "base/cpuset.h"
#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

struct tree {
	char outside[64]; /* holds "secret" and the root "board" */
	struct root *root;
};

static void put(const struct tree *tree, const char *path, const char *text)
{
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "%s/%s", tree->outside, path);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void folder(const struct tree *tree, const char *path)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", tree->outside, path);
	assert_int_equal(mkdir(name, 0700), 0);
}

static void link_to(const struct tree *tree, const char *path, const char *target)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", tree->outside, path);
	assert_int_equal(symlink(target, name), 0);
}

static int setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	char name[256];

	assert_non_null(tree);
	snprintf(tree->outside, sizeof(tree->outside), "/tmp/test_root.XXXXXX");
	assert_non_null(mkdtemp(tree->outside));
	put(tree, "secret", "secret\n");
	folder(tree, "board");
	folder(tree, "board/sys");
	folder(tree, "board/sys/cpu10");
	folder(tree, "board/sys/cpu2");
	folder(tree, "board/empty");
	put(tree, "board/sys/number", "42\n");
	put(tree, "board/sys/hex", "0x1f\n");
	put(tree, "board/sys/words", "42 x\n");
	put(tree, "board/sys/nothing", "");
	put(tree, "board/sys/cpus", "0-1,3\n");
	put(tree, "board/sys/nocpus", "\n");
	put(tree, "board/sys/oldnohz", "  (null)\n");
	put(tree, "board/sys/cpu2/text", "two \n\n");
	link_to(tree, "board/sys/inner", "cpu2/text");
	link_to(tree, "board/sys/absolute", "/sys/cpu2");
	link_to(tree, "board/sys/up", "../../secret");
	link_to(tree, "board/sys/far", "../../../../../../../../../../../../etc/passwd");
	link_to(tree, "board/sys/loop", "loop");
	link_to(tree, "board/sys/gone", "missing");
	snprintf(name, sizeof(name), "%s/board/sys/fifo", tree->outside);
	assert_int_equal(mkfifo(name, 0600), 0);
	snprintf(name, sizeof(name), "%s/board", tree->outside);
	assert_int_equal(root_open(&tree->root, name, NULL), 0);
	*state = tree;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st, (void)type, (void)where;
	return remove(path);
}

static int teardown(void **state)
{
	struct tree *tree = *state;

	root_fail_nth(0, 0);
	root_observe(NULL, NULL);
	root_close(tree->root);
	nftw(tree->outside, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(tree);
	return 0;
}

static void test_text(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	char buf[16];

	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/cpu%d/text", 2), 3);
	assert_string_equal(buf, "two");
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/nothing"), 0);
	assert_string_equal(buf, "");
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/missing"), -ENOENT);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys"), -EINVAL);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/number/x"), -ENOTDIR);
	assert_int_equal(root_text(root, buf, 3, "sys/cpu2/text"), -EFBIG);
	assert_false(root_is_live(root));
}

/* A fifo in a recorded tree must neither block nor be read. */
static void test_only_regular_files(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	char buf[16], *text = NULL;
	size_t length;

	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/fifo"), -EINVAL);
	assert_int_equal(root_all(root, 100, &text, &length, "sys/fifo"), -EINVAL);
	assert_null(text);
}

static void test_links_stay_inside(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	char buf[64];

	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/inner"), 3);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/absolute/text"), 3);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/../sys/cpu2/../inner"), 3);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/up"), -ENOENT);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/far"), -ENOENT);
	assert_int_equal(root_text(root, buf, sizeof(buf), "../secret"), -ENOENT);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/loop"), -ELOOP);
	assert_int_equal(root_text(root, buf, sizeof(buf), "sys/gone"), -ENOENT);
	assert_int_equal(root_link(root, buf, sizeof(buf), "sys/up"), strlen("../../secret"));
	assert_string_equal(buf, "../../secret");
	assert_int_equal(root_link(root, buf, sizeof(buf), "sys/number"), -EINVAL);
}

static void test_numbers(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	int64_t value = 7;

	assert_int_equal(root_number(root, &value, "sys/words"), -EBADMSG);
	assert_int_equal(root_number(root, &value, "sys/nothing"), -EBADMSG);
	assert_int_equal(root_number(root, &value, "sys/missing"), -ENOENT);
	assert_int_equal(value, 7);
	assert_int_equal(root_number(root, &value, "sys/number"), 0);
	assert_int_equal(value, 42);
	assert_int_equal(root_number(root, &value, "sys/hex"), 0);
	assert_int_equal(value, 31);
}

static void test_cpus(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	struct cpuset set;

	assert_int_equal(root_cpus(root, &set, "sys/cpus"), 0);
	assert_int_equal(cpuset_count(&set), 3);
	assert_int_equal(root_cpus(root, &set, "sys/nocpus"), 0);
	assert_true(cpuset_empty(&set));
	assert_int_equal(root_cpus(root, &set, "sys/cpus"), 0);
	assert_int_equal(root_cpus(root, &set, "sys/oldnohz"), 0);
	assert_true(cpuset_empty(&set));
	assert_int_equal(root_cpus(root, &set, "sys/words"), -EBADMSG);
}

static void test_list(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	struct root_names names;
	size_t two = 99, ten = 99;

	assert_int_equal(root_list(root, &names, "empty"), 0);
	assert_int_equal(names.count, 0);
	root_names_free(&names);
	assert_int_equal(root_list(root, &names, "sys/number"), -ENOTDIR);
	assert_int_equal(names.count, 0);
	assert_int_equal(root_list(root, &names, "sys"), 0);
	for (size_t i = 0; i < names.count; i++) {
		assert_true(names.names[i][0] != '.');
		two = strcmp(names.names[i], "cpu2") ? two : i;
		ten = strcmp(names.names[i], "cpu10") ? ten : i;
	}
	assert_true(two < ten && ten < names.count);
	root_names_free(&names);
	assert_int_equal(names.count, 0);
}

static void test_directory(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	char buf[16];
	int dir = root_dir(root, "sys");

	assert_true(dir >= 0);
	assert_int_equal(root_at_text(root, dir, "number", buf, sizeof(buf)), 2);
	assert_string_equal(buf, "42");
	assert_int_equal(root_at_text(root, dir, "up", buf, sizeof(buf)), -ELOOP);
	assert_int_equal(root_at_text(root, dir, "missing", buf, sizeof(buf)), -ENOENT);
	close(dir);
	assert_int_equal(root_dir(root, "sys/number"), -ENOTDIR);
	assert_true(root_exists(root, "sys/cpu%d", 10));
	assert_false(root_exists(root, "sys/cpu%d", 3));
}

static void test_whole_file(void **state)
{
	struct tree *tree = *state;
	char *big = malloc(50001), *text = NULL;
	size_t length = 0;

	assert_non_null(big);
	memset(big, 'b', 50000);
	big[50000] = '\0';
	put(tree, "board/big", big);
	assert_int_equal(root_all(tree->root, ROOT_FILE_MAX, &text, &length, "big"), 0);
	assert_int_equal(length, 50000);
	assert_string_equal(text, big);
	free(text);
	text = NULL;
	assert_int_equal(root_all(tree->root, 49999, &text, &length, "big"), -EFBIG);
	assert_null(text);
	assert_int_equal(root_all(tree->root, 50000, &text, &length, "big"), 0);
	free(text);
	free(big);
}

static void test_path_too_long(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	char *name = malloc(5001), buf[8];

	assert_non_null(name);
	memset(name, 'n', 5000);
	name[5000] = '\0';
	assert_int_equal(root_text(root, buf, sizeof(buf), "%s", name), -ENAMETOOLONG);
	assert_false(root_exists(root, "%s", name));
	free(name);
}

static void count_reads(const char *path, void *context)
{
	(void)path;
	++*(int *)context;
}

static void test_nth_failure_and_observer(void **state)
{
	const struct root *root = ((struct tree *)*state)->root;
	int64_t value;
	int reads = 0;

	root_observe(count_reads, &reads);
	root_fail_nth(2, EIO);
	assert_int_equal(root_number(root, &value, "sys/number"), 0);
	assert_int_equal(root_number(root, &value, "sys/number"), -EIO);
	assert_int_equal(root_number(root, &value, "sys/number"), 0);
	assert_int_equal(reads, 3);
}

static void test_open_refuses(void **state)
{
	struct tree *tree = *state;
	struct root *root = NULL;
	struct fail fail = { "" };
	char name[256];

	snprintf(name, sizeof(name), "%s/missing", tree->outside);
	assert_int_equal(root_open(&root, name, &fail), -EINVAL);
	assert_non_null(strstr(fail.text, name));
	snprintf(name, sizeof(name), "%s/secret", tree->outside);
	assert_int_equal(root_open(&root, name, &fail), -EINVAL);
	assert_null(root);
	root_close(NULL);
}

static void test_live(void **state)
{
	struct root *root;
	struct cpuset online;

	(void)state;
	assert_int_equal(root_open(&root, NULL, NULL), 0);
	assert_true(root_is_live(root));
	assert_int_equal(root_cpus(root, &online, "sys/devices/system/cpu/online"), 0);
	assert_false(cpuset_empty(&online));
	assert_true(root_exists(root, "proc/self/stat"));
	root_close(root);
}

static void forget_openat2(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(1);
	}
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(test_text),
		WITH_TREE(test_only_regular_files),
		WITH_TREE(test_links_stay_inside),
		WITH_TREE(test_numbers),
		WITH_TREE(test_cpus),
		WITH_TREE(test_list),
		WITH_TREE(test_directory),
		WITH_TREE(test_whole_file),
		WITH_TREE(test_path_too_long),
		WITH_TREE(test_nth_failure_and_observer),
		WITH_TREE(test_open_refuses),
		cmocka_unit_test(test_live),
	};

	int failed = cmocka_run_group_tests_name("with openat2", tests, NULL, NULL);

	/* the same on a kernel that lacks it (before 5.6), where links are resolved step by step */
	forget_openat2();
	return failed + cmocka_run_group_tests_name("without openat2", tests, NULL, NULL);
}
