// SPDX-License-Identifier: GPL-2.0-or-later
/* Where interrupts may go: requested affinities, of those that have a handler. */
#include "base/cpuset.h"
#include "base/sink.h"
#include "base/str.h"
#include "board/surroundings_parts.h"
#include "sys/root.h"

#include <errno.h>

/* The list as one text of at most so many bytes: whole boards fit, big servers are cut with "…". */
#define LIST_MAX 2000

static void read_default(struct reading *reading)
{
	static const char path[] = "proc/irq/default_smp_affinity";
	char text[4096], list[CPUSET_TEXT_MAX];
	struct cpuset set = { 0 };
	ssize_t length = root_text(reading->root, text, sizeof(text), "%s", path);
	int err = length < 0 ? (int)length : cpuset_parse_mask(text, &set);

	if (err)
		reading_failed(reading, "irq_affinity_default", path, length < 0 ? err : -EBADMSG);
	else
		reading_text(reading, "irq_affinity_default",
			     cpuset_text(&set, list, sizeof(list)));
}

/* Whether anybody handles it: the names in sysfs (since 4.9), else a folder by the handler's name.
 */
static bool has_handler(const struct root *root, const char *irq)
{
	struct root_names names;
	char text[1024];
	ssize_t length = root_text(root, text, sizeof(text), "sys/kernel/irq/%s/actions", irq);
	bool found = false;

	if (length >= 0)
		return length > 0;
	if (root_list(root, &names, "proc/irq/%s", irq))
		return false;
	for (size_t i = 0; i < names.count && !found; i++) {
		struct root_names inner;

		found = !root_list(root, &inner, "proc/irq/%s/%s", irq, names.names[i]);
		if (found)
			root_names_free(&inner);
	}
	root_names_free(&names);
	return found;
}

void surroundings_irqs(struct reading *reading)
{
	struct strbuf list = STRBUF_INIT;
	struct root_names irqs;
	int err;

	read_default(reading);
	err = root_list(reading->root, &irqs, "proc/irq");
	if (err) {
		reading_failed(reading, "irq_affinities", "proc/irq", err);
		return;
	}
	for (size_t i = 0; i < irqs.count; i++) {
		char text[CPUSET_TEXT_MAX];
		uint64_t number;

		if (str_u64(irqs.names[i], &number) || !has_handler(reading->root, irqs.names[i]) ||
		    root_text(reading->root, text, sizeof(text), "proc/irq/%s/smp_affinity_list",
			      irqs.names[i]) < 0)
			continue;
		if (list.length > LIST_MAX) {
			sink_text(&list.sink, " …");
			break;
		}
		sink_printf(&list.sink, "%s%s:%s", list.length ? " " : "", irqs.names[i], text);
	}
	root_names_free(&irqs);
	if (list.sink.error)
		reading->error = list.sink.error;
	else
		reading_text(reading, "irq_affinities", list.text ? list.text : "");
	strbuf_free(&list);
}
