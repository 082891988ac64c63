// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether the board is a virtual machine, and whose. */
#include "base/str.h"
#include "board/surroundings_parts.h"
#include "sys/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum answer { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_YES };

struct name_of {
	const char *sign, *name;
};

static const char *name_for(const struct name_of *names, const char *text)
{
	for (; names->sign; names++) {
		if (str_starts(text, names->sign))
			return names->name;
	}
	return NULL;
}

/* The processor itself says so: CPUID leaf 1, ECX bit 31, and the name in leaf 0x40000000 (Intel
 * SDM volume 2 leaves the bit to hypervisors; Documentation/virt/kvm/x86/cpuid.rst). Reading it
 * disturbs no other CPU, while reading proc/cpuinfo sent interrupts to all of them before 5.19. */
static enum answer ask_processor(const struct root *root, char *name, size_t size)
{
#if defined(__x86_64__) || defined(__i386__)
	static const struct name_of vendors[] = {
		{ "KVMKVMKVM", "kvm" },
		{ "Linux KVM Hv", "kvm" },
		{ "TCGTCGTCGTCG", "qemu" },
		{ "Microsoft Hv", "hyper-v" },
		{ "VMwareVMware", "vmware" },
		{ "XenVMMXenVMM", "xen" },
		{ "VBoxVBoxVBox", "virtualbox" },
		{ "bhyve bhyve ", "bhyve" },
		{ "ACRNACRNACRN", "acrn" },
		{ "Jailhouse", "jailhouse" },
		{ NULL, NULL },
	};
	unsigned a, b, c, d;
	char vendor[13] = "";

	if (!root_is_live(root) || !__get_cpuid(1, &a, &b, &c, &d))
		return ANSWER_UNKNOWN;
	if (!(c >> 31))
		return ANSWER_NO;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &c, 4);
	memcpy(vendor + 8, &d, 4);
	snprintf(name, size, "%s",
		 name_for(vendors, vendor) ? name_for(vendors, vendor) : "unnamed hypervisor");
	return ANSWER_YES;
#else
	(void)root;
	(void)name;
	(void)size;
	return ANSWER_UNKNOWN;
#endif
}

static bool has_word(const char *line, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at += length) {
		if (at > line && at[-1] == ' ' && (!at[length] || at[length] == ' '))
			return true;
	}
	return false;
}

/* x86's flags and POWER's machine line, in a recorded proc/cpuinfo. */
static enum answer ask_cpuinfo(const struct root *root, char *name, size_t size)
{
	enum answer answer = ANSWER_UNKNOWN;
	char *text, *line, *rest;
	size_t length;

	if (root_is_live(root) || root_all(root, ROOT_FILE_MAX, &text, &length, "proc/cpuinfo"))
		return ANSWER_UNKNOWN;
	rest = text;
	while (answer != ANSWER_YES && (line = strsep(&rest, "\n"))) {
		if (str_starts(line, "flags\t")) {
			answer = has_word(line, "hypervisor") ? ANSWER_YES : ANSWER_NO;
			snprintf(name, size, "unnamed hypervisor");
		} else if (str_starts(line, "machine") && strstr(line, "emulated by qemu")) {
			answer = ANSWER_YES;
			snprintf(name, size, "qemu");
		}
	}
	free(text);
	return answer;
}

/* What firmware calls the machine. Clouds that also let whole machines by that name are left out.
 */
static enum answer ask_firmware(const struct root *root, char *name, size_t size)
{
	static const char *const files[] = { "product_name", "sys_vendor", "board_vendor",
					     "bios_vendor" };
	static const struct name_of names[] = {
		{ "KVM", "kvm" },
		{ "QEMU", "qemu" },
		{ "OpenStack", "kvm" },
		{ "VMware", "vmware" },
		{ "VMW", "vmware" },
		{ "VirtualBox", "virtualbox" },
		{ "innotek", "virtualbox" },
		{ "Xen", "xen" },
		{ "Bochs", "bochs" },
		{ "Parallels", "parallels" },
		{ "BHYVE", "bhyve" },
		{ "Virtual Machine", "hyper-v" },
		{ "Apple Virtualization", "apple" },
		{ NULL, NULL },
	};
	enum answer answer = ANSWER_UNKNOWN;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char text[256];

		if (root_text(root, text, sizeof(text), "sys/class/dmi/id/%s", files[i]) <= 0)
			continue;
		answer = ANSWER_NO;
		if (name_for(names, text)) {
			snprintf(name, size, "%s", name_for(names, text));
			return ANSWER_YES;
		}
	}
	return answer;
}

/* Hypervisors put a node of that name into the tree they hand over (devicetree bindings: xen, kvm);
 * QEMU's machine "virt" is "linux,dummy-virt". */
static enum answer ask_device_tree(const struct root *root, char *name, size_t size)
{
	static const char *const trees[] = { "proc/device-tree", "sys/firmware/devicetree/base" };

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		char text[256];

		if (root_text(root, text, sizeof(text), "%s/hypervisor/compatible", trees[i]) > 0) {
			snprintf(name, size, "%s",
				 str_starts(text, "xen") ? "xen"
				 : strstr(text, "kvm")   ? "kvm"
							 : "unnamed hypervisor");
			return ANSWER_YES;
		}
		if (root_text(root, text, sizeof(text), "%s/compatible", trees[i]) <= 0)
			continue;
		if (strcmp(text, "linux,dummy-virt") != 0 && strcmp(text, "riscv-virtio") != 0)
			return ANSWER_NO;
		snprintf(name, size, "qemu");
		return ANSWER_YES;
	}
	return ANSWER_UNKNOWN;
}

/* sys/hypervisor is Xen's; a "VM00 Control Program" line in proc/sysinfo is s390's way to say it.
 */
static enum answer ask_hypervisor(const struct root *root, char *name, size_t size)
{
	static const char line[] = "VM00 Control Program:";
	char text[16384], *found;

	if (root_text(root, text, sizeof(text), "sys/hypervisor/type") > 0) {
		snprintf(name, size, "%s", text);
		return ANSWER_YES;
	}
	if (root_text(root, text, sizeof(text), "proc/sysinfo") <= 0)
		return ANSWER_UNKNOWN;
	found = strstr(text, line);
	if (!found)
		return ANSWER_NO;
	found += strlen(line);
	found[strcspn(found, "\n")] = '\0';
	snprintf(name, size, "%s", str_trim(found));
	return ANSWER_YES;
}

void surroundings_virtual(struct reading *reading)
{
	/* the ones with the better names first */
	static enum answer (*const witnesses[])(const struct root *, char *, size_t) = {
		ask_firmware, ask_device_tree, ask_hypervisor, ask_processor, ask_cpuinfo,
	};
	bool asked = false;

	for (size_t i = 0; i < sizeof(witnesses) / sizeof(witnesses[0]); i++) {
		char name[64];
		enum answer answer = witnesses[i](reading->root, name, sizeof(name));

		if (answer == ANSWER_YES) {
			reading_text(reading, "virtual_machine", name);
			return;
		}
		asked |= answer == ANSWER_NO;
	}
	if (asked)
		reading_text(reading, "virtual_machine", "no");
	else
		reading_unknown(reading, "virtual_machine",
				"neither processor flags nor firmware or device tree can be read");
}
