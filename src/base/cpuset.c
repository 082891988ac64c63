// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cpuset.h"

#include "base/fail.h"
#include "base/sink.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORDS (CPUSET_MAX / CPUSET_WORD)

void cpuset_add(struct cpuset *set, int cpu)
{
	set->words[cpu / CPUSET_WORD] |= 1UL << (cpu % CPUSET_WORD);
}

void cpuset_remove(struct cpuset *set, int cpu)
{
	set->words[cpu / CPUSET_WORD] &= ~(1UL << (cpu % CPUSET_WORD));
}

bool cpuset_has(const struct cpuset *set, int cpu)
{
	if (cpu < 0 || cpu >= CPUSET_MAX)
		return false;
	return set->words[cpu / CPUSET_WORD] >> (cpu % CPUSET_WORD) & 1;
}

int cpuset_count(const struct cpuset *set)
{
	int count = 0;

	for (int i = 0; i < WORDS; i++)
		count += __builtin_popcountl(set->words[i]);
	return count;
}

bool cpuset_empty(const struct cpuset *set)
{
	return cpuset_next(set, -1) < 0;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool cpuset_intersects(const struct cpuset *a, const struct cpuset *b)
{
	for (int i = 0; i < WORDS; i++) {
		if (a->words[i] & b->words[i])
			return true;
	}
	return false;
}

bool cpuset_subset(const struct cpuset *part, const struct cpuset *whole)
{
	for (int i = 0; i < WORDS; i++) {
		if (part->words[i] & ~whole->words[i])
			return false;
	}
	return true;
}

void cpuset_and(struct cpuset *a, const struct cpuset *b)
{
	for (int i = 0; i < WORDS; i++)
		a->words[i] &= b->words[i];
}

void cpuset_or(struct cpuset *a, const struct cpuset *b)
{
	for (int i = 0; i < WORDS; i++)
		a->words[i] |= b->words[i];
}

void cpuset_without(struct cpuset *a, const struct cpuset *b)
{
	for (int i = 0; i < WORDS; i++)
		a->words[i] &= ~b->words[i];
}

int cpuset_next(const struct cpuset *set, int after)
{
	int cpu = after + 1, word = cpu / CPUSET_WORD;
	unsigned long bits;

	if (cpu >= CPUSET_MAX)
		return -1;
	bits = set->words[word] & (~0UL << (cpu % CPUSET_WORD));
	while (!bits) {
		if (++word == WORDS)
			return -1;
		bits = set->words[word];
	}
	return word * CPUSET_WORD + __builtin_ctzl(bits);
}

int cpuset_last(const struct cpuset *set)
{
	for (int i = WORDS - 1; i >= 0; i--) {
		if (set->words[i])
			return (i + 1) * CPUSET_WORD - 1 - __builtin_clzl(set->words[i]);
	}
	return -1;
}

/* One number, or N. Moves *AT behind it. */
static int parse_number(const char **at, int last, unsigned *value)
{
	unsigned sum = 0;

	if (**at == 'N' && last >= 0) {
		(*at)++;
		*value = (unsigned)last;
		return 0;
	}
	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	for (; isdigit((unsigned char)**at); (*at)++) {
		sum = sum * 10 + (unsigned)(**at - '0');
		if (sum > 1000000)
			return -ERANGE;
	}
	*value = sum;
	return 0;
}

/* FROM[-TO[:USED/GROUP]], the kernel's bitmap_parselist region. */
static int parse_region(const char **at, int last, struct cpuset *set)
{
	unsigned from, to, used = 1, group = 1;
	int err = parse_number(at, last, &from);

	if (err)
		return err;
	to = from;
	if (**at == '-') {
		(*at)++;
		err = parse_number(at, last, &to);
		if (!err && **at == ':') {
			(*at)++;
			err = parse_number(at, last, &used);
			if (!err && *(*at)++ != '/')
				err = -EINVAL;
			if (!err)
				err = parse_number(at, last, &group);
		}
	}
	if (err)
		return err;
	if (from > to || !group || used > group)
		return -EINVAL;
	if (to >= CPUSET_MAX)
		return -ERANGE;
	for (unsigned cpu = from; cpu <= to; cpu++) {
		if ((cpu - from) % group < used)
			cpuset_add(set, (int)cpu);
	}
	return 0;
}

int cpuset_parse(const char *text, int last, struct cpuset *set, struct fail *fail)
{
	struct cpuset result = { 0 };
	const char *at = text;

	if (!strcmp(text, "all")) {
		if (last < 0)
			return fail_set(fail, EINVAL, "'all' has no meaning here");
		for (int cpu = 0; cpu <= last; cpu++)
			cpuset_add(&result, cpu);
		*set = result;
		return 0;
	}
	/* the kernel takes empty pieces: "0,,1", "0," (lib/bitmap-str.c, bitmap_parselist) */
	for (at += strspn(at, ","); *at; at += strspn(at, ",")) {
		const char *piece = at;
		int err = parse_region(&at, last, &result);

		if (!err && *at && *at != ',')
			err = -EINVAL;
		if (err == -ERANGE)
			return fail_set(fail, EINVAL,
					"'%.*s' in the CPU list '%.80s' is beyond CPU %d",
					(int)strcspn(piece, ","), piece, text, CPUSET_MAX - 1);
		if (err)
			return fail_set(
				fail, EINVAL,
				"'%.*s' in '%.80s' is no CPU list (like 0-3, 1,5 or 0-31:2/4)",
				(int)strcspn(piece, ","), piece, text);
	}
	*set = result;
	return 0;
}

int cpuset_parse_mask(const char *text, struct cpuset *set)
{
	struct cpuset result = { 0 };
	size_t length = strlen(text);
	int bit = 0;

	if (!length)
		return -EINVAL;
	for (const char *at = text + length - 1; at >= text; at--) {
		int digit;

		if (*at == ',')
			continue;
		if (!isxdigit((unsigned char)*at))
			return -EINVAL;
		digit = isdigit((unsigned char)*at) ? *at - '0' : (*at | 0x20) - 'a' + 10;
		for (int i = 0; i < 4; i++) {
			if (!(digit >> i & 1))
				continue;
			if (bit + i >= CPUSET_MAX)
				return -ERANGE;
			cpuset_add(&result, bit + i);
		}
		bit += 4;
	}
	*set = result;
	return 0;
}

void cpuset_write(const struct cpuset *set, struct sink *sink)
{
	const char *comma = "";

	for (int cpu = cpuset_next(set, -1); cpu >= 0; cpu = cpuset_next(set, cpu)) {
		int end = cpu;

		while (cpuset_has(set, end + 1))
			end++;
		if (end == cpu)
			sink_printf(sink, "%s%d", comma, cpu);
		else
			sink_printf(sink, "%s%d-%d", comma, cpu, end);
		comma = ",";
		cpu = end;
	}
}

const char *cpuset_text(const struct cpuset *set, char *buf, size_t size)
{
	struct strbuf list = STRBUF_INIT;

	cpuset_write(set, &list.sink);
	if (list.length < size)
		snprintf(buf, size, "%s", list.text ? list.text : "");
	else
		snprintf(buf, size, "%.*s…", size > 4 ? (int)size - 4 : 0, list.text);
	strbuf_free(&list);
	return buf;
}
