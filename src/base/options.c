// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/options.h"

#include "base/fail.h"
#include "base/sink.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool option_is_end(const struct option *option)
{
	return !option->name && !option->letter;
}

/* "--name" or "-x", as messages and help show it. */
static const char *shown(const struct option *option, char *buf, size_t size)
{
	if (option->name)
		snprintf(buf, size, "--%s", option->name);
	else
		snprintf(buf, size, "-%c", option->letter);
	return buf;
}

static void *member(const struct option *option, void *target)
{
	return (char *)target + option->offset;
}

static int parse_number(const struct option *option, const char *text, void *target,
			struct fail *fail)
{
	char name[64];
	int64_t value;
	int err = str_i64(text, &value);

	if (err == -EINVAL)
		return fail_set(fail, EINVAL, "%s: '%.80s' is no whole number",
				shown(option, name, sizeof(name)), text);
	if (err || value < option->low || value > option->high)
		return fail_set(fail, EINVAL, "%s: %.80s is outside %" PRId64 " to %" PRId64,
				shown(option, name, sizeof(name)), text, option->low, option->high);
	*(int64_t *)member(option, target) = value;
	return 0;
}

static int parse_duration(const struct option *option, const char *text, void *target,
			  struct fail *fail)
{
	char name[64], low[32], high[32];
	int64_t value;
	int err = str_duration(text, option->bare_ns, &value);

	shown(option, name, sizeof(name));
	if (err == -EINVAL)
		return fail_set(
			fail, EINVAL, "%s: '%.80s' is no time%s", name, text,
			option->bare_ns ? "" : " with a unit (like 80us, 1ms, 10s, 5m, 12h, 3d)");
	if (err || value < option->low || value > option->high)
		return fail_set(fail, EINVAL, "%s: %.80s is outside %s to %s", name, text,
				str_from_duration(low, sizeof(low), option->low),
				str_from_duration(high, sizeof(high), option->high));
	*(int64_t *)member(option, target) = value;
	return 0;
}

static int no_choice(const struct option *option, const char *text, struct fail *fail)
{
	struct strbuf list = STRBUF_INIT;
	char name[64];
	int err;

	for (int i = 0; option->choices[i]; i++)
		sink_printf(&list.sink, "%s%s", i ? ", " : "", option->choices[i]);
	err = fail_set(fail, EINVAL, "%s: '%.80s' is none of %s", shown(option, name, sizeof(name)),
		       text, list.text ? list.text : "");
	strbuf_free(&list);
	return err;
}

static int parse_choice(const struct option *option, const char *text, void *target,
			struct fail *fail)
{
	for (int i = 0; option->choices[i]; i++) {
		if (!strcmp(text, option->choices[i])) {
			*(int *)member(option, target) = i;
			return 0;
		}
	}
	return no_choice(option, text, fail);
}

static int assign(const struct option *option, const char *text, void *target, struct fail *fail)
{
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)member(option, target) = true;
		return 0;
	case OPTION_NUMBER:
		return parse_number(option, text, target, fail);
	case OPTION_DURATION:
		return parse_duration(option, text, target, fail);
	case OPTION_TEXT:
		*(const char **)member(option, target) = text;
		return 0;
	case OPTION_CHOICE:
		return parse_choice(option, text, target, fail);
	case OPTION_CUSTOM:
		return option->parse(target, text, fail);
	}
	return -EINVAL;
}

static bool takes_argument(const struct option *option)
{
	return option->argument != NULL;
}

#define NAMES_MAX 128

static int unknown_option(const struct option *table, const char *given, struct fail *fail)
{
	const char *names[NAMES_MAX + 1];
	size_t length = strcspn(given, "=");
	char word[64];
	const char *nearest;
	int count = 0;

	for (const struct option *o = table; !option_is_end(o) && count < NAMES_MAX; o++) {
		if (o->name && !o->hidden)
			names[count++] = o->name;
	}
	names[count] = NULL;
	snprintf(word, sizeof(word), "%.*s", (int)(length < 60 ? length : 60), given);
	nearest = str_nearest(word, names);
	if (nearest)
		return fail_set(fail, EINVAL, "unknown option --%s; did you mean --%s?", word,
				nearest);
	return fail_set(fail, EINVAL, "unknown option --%s; --help lists them", word);
}

static const struct option *find_long(const struct option *table, enum options_style style,
				      const char *name, size_t length)
{
	const struct option *found = NULL;
	int count = 0;

	for (const struct option *o = table; !option_is_end(o); o++) {
		if (!o->name || strncmp(o->name, name, length) != 0)
			continue;
		if (!o->name[length])
			return o;
		found = o;
		count++;
	}
	return style == OPTIONS_ABBREVIATE && count == 1 && length ? found : NULL;
}

/* What may stand as a word of its own behind an option whose argument is optional: a number, or a
 * CPU list that begins with one or with "!". */
static bool looks_like_number(const char *text)
{
	return text && (isdigit((unsigned char)*text) || *text == '!');
}

struct scan {
	const struct option *table;
	enum options_style style;
	int argc, at; /* argv[at] is next */
	char **argv;
	void *target;
	struct fail *fail;
};

/* Hands OPTION its argument: ATTACHED ("=value", "-p95") or the next word. */
static int take(struct scan *scan, const struct option *option, const char *attached)
{
	const char *next = scan->at < scan->argc ? scan->argv[scan->at] : NULL;
	char name[64];

	if (!takes_argument(option))
		return assign(option, NULL, scan->target, scan->fail);
	if (attached)
		return assign(option, attached, scan->target, scan->fail);
	if (option->optional_argument && !looks_like_number(next))
		return assign(option, NULL, scan->target, scan->fail);
	if (!next)
		return fail_set(scan->fail, EINVAL, "%s needs a value: %s",
				shown(option, name, sizeof(name)), option->argument);
	scan->at++;
	return assign(option, next, scan->target, scan->fail);
}

static int long_option(struct scan *scan, const char *text)
{
	size_t length = strcspn(text, "=");
	const struct option *option = find_long(scan->table, scan->style, text, length);
	const char *value = text[length] ? text + length + 1 : NULL;

	if (!option)
		return unknown_option(scan->table, text, scan->fail);
	if (value && !takes_argument(option))
		return fail_set(scan->fail, EINVAL, "--%s takes no value ('%.80s')", option->name,
				value);
	return take(scan, option, value);
}

/* A cluster of letters; the first that takes an argument ends it. */
static int letters(struct scan *scan, const char *text)
{
	for (; *text; text++) {
		const struct option *option = scan->table;
		int err;

		while (!option_is_end(option) && option->letter != *text)
			option++;
		if (option_is_end(option))
			return fail_set(scan->fail, EINVAL, "unknown option -%c; --help lists them",
					*text);
		if (takes_argument(option))
			return take(scan, option, text[1] ? text + 1 : NULL);
		err = take(scan, option, NULL);
		if (err)
			return err;
	}
	return 0;
}

int options_parse(const struct option *table, enum options_style style, int argc, char **argv,
		  void *target, int *positionals, struct fail *fail)
{
	struct scan scan = { table, style, argc, 0, argv, target, fail };
	bool options_over = false;
	int count = 0;

	while (scan.at < argc) {
		char *word = argv[scan.at++];
		int err = 0;

		if (options_over || word[0] != '-' || !word[1])
			argv[count++] = word;
		else if (!strcmp(word, "--"))
			options_over = true;
		else if (word[1] == '-')
			err = long_option(&scan, word + 2);
		else
			err = letters(&scan, word + 1);
		if (err)
			return err;
	}
	*positionals = count;
	return 0;
}

/* "--cpus LIST", "-h US, --histogram US" … in PLAIN or scdoc bold/underline. */
static void signature(const struct option *option, bool scdoc, struct sink *sink)
{
	const char *bold = scdoc ? "*" : "", *line = scdoc ? "_" : "";

	if (option->letter)
		sink_printf(sink, "%s-%c%s%s", bold, option->letter, bold,
			    option->name ? ", " : "");
	if (option->name)
		sink_printf(sink, "%s--%s%s", bold, option->name, bold);
	if (option->argument)
		sink_printf(sink, option->optional_argument ? "[=%s%s%s]" : " %s%s%s", line,
			    option->argument, line);
}

static void range(const struct option *option, struct sink *sink)
{
	char low[32], high[32];

	if (option->kind == OPTION_NUMBER && option->high < INT64_MAX)
		sink_printf(sink, " (%" PRId64 " to %" PRId64 ")", option->low, option->high);
	else if (option->kind == OPTION_DURATION && option->low > 0)
		sink_printf(sink, " (%s to %s)", str_from_duration(low, sizeof(low), option->low),
			    str_from_duration(high, sizeof(high), option->high));
}

static void sentence(const struct option *option, struct sink *sink)
{
	sink_text(sink, option->help);
	range(option, sink);
	for (int i = 0; option->choices && option->choices[i]; i++) {
		sink_printf(sink, "%s%s", i ? ", " : ": ", option->choices[i]);
		if (option->choice_help && option->choice_help[i])
			sink_printf(sink, " (%s)", option->choice_help[i]);
	}
	if (option->preset)
		sink_printf(sink, "; default %s", option->preset);
}

#define HELP_INDENT 22
#define HELP_WIDTH  79

/* TEXT from column HELP_INDENT on, broken at blanks. */
static void wrapped(const char *text, struct sink *sink)
{
	size_t room = HELP_WIDTH - HELP_INDENT;

	while (strlen(text) > room) {
		size_t cut = room;

		while (cut && text[cut] != ' ')
			cut--;
		if (!cut)
			cut = room;
		sink_write(sink, text, cut);
		sink_text(sink, "\n");
		sink_fill(sink, ' ', HELP_INDENT);
		text += cut;
		while (*text == ' ')
			text++;
	}
	sink_printf(sink, "%s\n", text);
}

void options_help(const struct option *table, struct sink *sink)
{
	const char *group = NULL;

	for (const struct option *o = table; !option_is_end(o); o++) {
		struct strbuf left = STRBUF_INIT, right = STRBUF_INIT;

		if (o->hidden)
			continue;
		if (o->group && (!group || strcmp(group, o->group) != 0)) {
			group = o->group;
			sink_printf(sink, "\n%s:\n", group);
		}
		signature(o, false, &left.sink);
		sentence(o, &right.sink);
		sink_printf(sink, "  %s", left.text);
		if (left.length + 4 > HELP_INDENT) {
			sink_text(sink, "\n");
			sink_fill(sink, ' ', HELP_INDENT);
		} else {
			sink_fill(sink, ' ', HELP_INDENT - 2 - left.length);
		}
		wrapped(right.text, sink);
		strbuf_free(&left);
		strbuf_free(&right);
	}
}

void options_scdoc(const struct option *table, struct sink *sink)
{
	const char *group = NULL;

	for (const struct option *o = table; !option_is_end(o); o++) {
		struct strbuf text = STRBUF_INIT;

		if (o->hidden)
			continue;
		if (o->group && (!group || strcmp(group, o->group) != 0)) {
			group = o->group;
			sink_printf(sink, "## %s\n\n", group);
		}
		signature(o, true, sink);
		sink_text(sink, "\n\t");
		sentence(o, &text.sink);
		for (const char *c = text.text; *c; c++) {
			if (strchr("_*\\#`<>|~", *c))
				sink_text(sink, "\\");
			sink_write(sink, c, 1);
		}
		sink_text(sink, ".\n\n");
		strbuf_free(&text);
	}
}
