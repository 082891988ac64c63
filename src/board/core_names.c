// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources: the Technical Reference Manuals of Arm's cores (MIDR_EL1 reset values), the Linux
 * kernel's arch/arm64/include/asm/cputype.h and
 * Documentation/devicetree/bindings/{arm,riscv}/cpus.yaml; other makers' numbers as their kernel
 * patches name them.
 */
#include "board/core_names.h"

#include <string.h>

static const struct {
	unsigned implementer;
	const char *name;
} vendors[] = {
	{ 0x41, "Arm" },
	{ 0x42, "Broadcom" },
	{ 0x43, "Cavium" },
	{ 0x44, "DEC" },
	{ 0x46, "Fujitsu" },
	{ 0x48, "HiSilicon" },
	{ 0x49, "Infineon" },
	{ 0x4d, "Motorola" },
	{ 0x4e, "NVIDIA" },
	{ 0x50, "Applied Micro" },
	{ 0x51, "Qualcomm" },
	{ 0x53, "Samsung" },
	{ 0x54, "Texas Instruments" },
	{ 0x56, "Marvell" },
	{ 0x61, "Apple" },
	{ 0x66, "Faraday" },
	{ 0x69, "Intel" },
	{ 0x6d, "Microsoft" },
	{ 0x70, "Phytium" },
	{ 0xc0, "Ampere" },
};

static const struct {
	unsigned char implementer;
	unsigned short part;
	const char *name;
} parts[] = {
	{ 0x41, 0x700, "ARM700" },
	{ 0x41, 0x710, "ARM710" },
	{ 0x41, 0x720, "ARM720T" },
	{ 0x41, 0x740, "ARM740T" },
	{ 0x41, 0x920, "ARM920T" },
	{ 0x41, 0x922, "ARM922T" },
	{ 0x41, 0x926, "ARM926EJ-S" },
	{ 0x41, 0x940, "ARM940T" },
	{ 0x41, 0x946, "ARM946E-S" },
	{ 0x41, 0x966, "ARM966E-S" },
	{ 0x41, 0xa20, "ARM1020E" },
	{ 0x41, 0xa22, "ARM1022E" },
	{ 0x41, 0xa26, "ARM1026EJ-S" },
	{ 0x41, 0xb02, "ARM11 MPCore" },
	{ 0x41, 0xb36, "ARM1136J-S" },
	{ 0x41, 0xb56, "ARM1156T2-S" },
	{ 0x41, 0xb76, "ARM1176JZ-S" },
	{ 0x41, 0xc05, "Cortex-A5" },
	{ 0x41, 0xc07, "Cortex-A7" },
	{ 0x41, 0xc08, "Cortex-A8" },
	{ 0x41, 0xc09, "Cortex-A9" },
	{ 0x41, 0xc0d, "Cortex-A12" },
	{ 0x41, 0xc0e, "Cortex-A17" },
	{ 0x41, 0xc0f, "Cortex-A15" },
	{ 0x41, 0xc14, "Cortex-R4" },
	{ 0x41, 0xc15, "Cortex-R5" },
	{ 0x41, 0xc17, "Cortex-R7" },
	{ 0x41, 0xc18, "Cortex-R8" },
	{ 0x41, 0xc20, "Cortex-M0" },
	{ 0x41, 0xc21, "Cortex-M1" },
	{ 0x41, 0xc23, "Cortex-M3" },
	{ 0x41, 0xc24, "Cortex-M4" },
	{ 0x41, 0xc27, "Cortex-M7" },
	{ 0x41, 0xc60, "Cortex-M0+" },
	{ 0x41, 0xd01, "Cortex-A32" },
	{ 0x41, 0xd02, "Cortex-A34" },
	{ 0x41, 0xd03, "Cortex-A53" },
	{ 0x41, 0xd04, "Cortex-A35" },
	{ 0x41, 0xd05, "Cortex-A55" },
	{ 0x41, 0xd06, "Cortex-A65" },
	{ 0x41, 0xd07, "Cortex-A57" },
	{ 0x41, 0xd08, "Cortex-A72" },
	{ 0x41, 0xd09, "Cortex-A73" },
	{ 0x41, 0xd0a, "Cortex-A75" },
	{ 0x41, 0xd0b, "Cortex-A76" },
	{ 0x41, 0xd0c, "Neoverse-N1" },
	{ 0x41, 0xd0d, "Cortex-A77" },
	{ 0x41, 0xd0e, "Cortex-A76AE" },
	{ 0x41, 0xd13, "Cortex-R52" },
	{ 0x41, 0xd15, "Cortex-R82" },
	{ 0x41, 0xd16, "Cortex-R52+" },
	{ 0x41, 0xd20, "Cortex-M23" },
	{ 0x41, 0xd21, "Cortex-M33" },
	{ 0x41, 0xd40, "Neoverse-V1" },
	{ 0x41, 0xd41, "Cortex-A78" },
	{ 0x41, 0xd42, "Cortex-A78AE" },
	{ 0x41, 0xd43, "Cortex-A65AE" },
	{ 0x41, 0xd44, "Cortex-X1" },
	{ 0x41, 0xd46, "Cortex-A510" },
	{ 0x41, 0xd47, "Cortex-A710" },
	{ 0x41, 0xd48, "Cortex-X2" },
	{ 0x41, 0xd49, "Neoverse-N2" },
	{ 0x41, 0xd4a, "Neoverse-E1" },
	{ 0x41, 0xd4b, "Cortex-A78C" },
	{ 0x41, 0xd4c, "Cortex-X1C" },
	{ 0x41, 0xd4d, "Cortex-A715" },
	{ 0x41, 0xd4e, "Cortex-X3" },
	{ 0x41, 0xd4f, "Neoverse-V2" },
	{ 0x41, 0xd80, "Cortex-A520" },
	{ 0x41, 0xd81, "Cortex-A720" },
	{ 0x41, 0xd82, "Cortex-X4" },
	{ 0x41, 0xd83, "Neoverse-V3AE" },
	{ 0x41, 0xd84, "Neoverse-V3" },
	{ 0x41, 0xd85, "Cortex-X925" },
	{ 0x41, 0xd87, "Cortex-A725" },
	{ 0x41, 0xd88, "Cortex-A520AE" },
	{ 0x41, 0xd89, "Cortex-A720AE" },
	{ 0x41, 0xd8e, "Neoverse-N3" },
	{ 0x41, 0xd8f, "Cortex-A320" },
	{ 0x42, 0x00f, "Brahma-B15" },
	{ 0x42, 0x100, "Brahma-B53" },
	{ 0x42, 0x516, "ThunderX2" },
	{ 0x43, 0x0a0, "ThunderX" },
	{ 0x43, 0x0a1, "ThunderX-88XX" },
	{ 0x43, 0x0a2, "ThunderX-81XX" },
	{ 0x43, 0x0a3, "ThunderX-83XX" },
	{ 0x43, 0x0af, "ThunderX2" },
	{ 0x43, 0x0b1, "OcteonTX2-98XX" },
	{ 0x43, 0x0b2, "OcteonTX2-96XX" },
	{ 0x43, 0x0b8, "ThunderX3" },
	{ 0x44, 0xa10, "SA110" },
	{ 0x44, 0xa11, "SA1100" },
	{ 0x46, 0x001, "A64FX" },
	{ 0x46, 0x003, "MONAKA" },
	{ 0x48, 0xd01, "Kunpeng-920" },
	{ 0x48, 0xd02, "Kunpeng-920 V200" },
	{ 0x48, 0xd40, "Cortex-A76 (HiSilicon)" },
	{ 0x4e, 0x000, "Denver" },
	{ 0x4e, 0x003, "Denver 2" },
	{ 0x4e, 0x004, "Carmel" },
	{ 0x4e, 0x010, "Olympus" },
	{ 0x50, 0x000, "X-Gene" },
	{ 0x51, 0x001, "Oryon" },
	{ 0x51, 0x00f, "Scorpion" },
	{ 0x51, 0x02d, "Scorpion" },
	{ 0x51, 0x04d, "Krait" },
	{ 0x51, 0x06f, "Krait" },
	{ 0x51, 0x201, "Kryo" },
	{ 0x51, 0x205, "Kryo" },
	{ 0x51, 0x211, "Kryo" },
	{ 0x51, 0x800, "Kryo 2xx Gold" },
	{ 0x51, 0x801, "Kryo 2xx Silver" },
	{ 0x51, 0x802, "Kryo 3xx Gold" },
	{ 0x51, 0x803, "Kryo 3xx Silver" },
	{ 0x51, 0x804, "Kryo 4xx Gold" },
	{ 0x51, 0x805, "Kryo 4xx Silver" },
	{ 0x51, 0xc00, "Falkor" },
	{ 0x53, 0x001, "Exynos-M1" },
	{ 0x53, 0x002, "Exynos-M3" },
	{ 0x53, 0x003, "Exynos-M4" },
	{ 0x53, 0x004, "Exynos-M5" },
	{ 0x56, 0x131, "Feroceon 88FR131" },
	{ 0x56, 0x581, "PJ4/PJ4b" },
	{ 0x56, 0x584, "PJ4B-MP" },
	{ 0x61, 0x020, "Icestorm (A14)" },
	{ 0x61, 0x021, "Firestorm (A14)" },
	{ 0x61, 0x022, "Icestorm (M1)" },
	{ 0x61, 0x023, "Firestorm (M1)" },
	{ 0x61, 0x024, "Icestorm (M1 Pro)" },
	{ 0x61, 0x025, "Firestorm (M1 Pro)" },
	{ 0x61, 0x028, "Icestorm (M1 Max)" },
	{ 0x61, 0x029, "Firestorm (M1 Max)" },
	{ 0x61, 0x032, "Blizzard (M2)" },
	{ 0x61, 0x033, "Avalanche (M2)" },
	{ 0x61, 0x034, "Blizzard (M2 Pro)" },
	{ 0x61, 0x035, "Avalanche (M2 Pro)" },
	{ 0x61, 0x038, "Blizzard (M2 Max)" },
	{ 0x61, 0x039, "Avalanche (M2 Max)" },
	{ 0x66, 0x526, "FA526" },
	{ 0x66, 0x626, "FA626" },
	{ 0x6d, 0xd49, "Azure Cobalt 100" },
	{ 0x70, 0x303, "FTC310" },
	{ 0x70, 0x660, "FTC660" },
	{ 0x70, 0x661, "FTC661" },
	{ 0x70, 0x662, "FTC662" },
	{ 0x70, 0x663, "FTC663" },
	{ 0x70, 0x664, "FTC664" },
	{ 0x70, 0x862, "FTC862" },
	{ 0xc0, 0xac3, "Ampere-1" },
	{ 0xc0, 0xac4, "Ampere-1A" },
	{ 0xc0, 0xac5, "Ampere-1B" },
};

static const struct {
	const char *key, *name;
} riscv[] = {
	{ "sifive,u54", "SiFive U54" },
	{ "sifive,u54-mc", "SiFive U54" },
	{ "sifive,u74", "SiFive U74" },
	{ "sifive,u74-mc", "SiFive U74" },
	{ "sifive,bullet0", "SiFive S7/U7" },
	{ "sifive,p550", "SiFive P550" },
	{ "sifive,s7", "SiFive S7" },
	{ "sifive,s76", "SiFive S76" },
	{ "thead,c906", "T-Head C906" },
	{ "thead,c908", "T-Head C908" },
	{ "thead,c910", "T-Head C910" },
	{ "thead,c920", "T-Head C920" },
	{ "spacemit,x60", "SpacemiT X60" },
	{ "andestech,ax45mp", "Andes AX45MP" },
	{ "canaan,k210", "Kendryte K210" },
}, s390[] = {
	{ "2064", "z900" }, { "2066", "z800" }, { "2084", "z990" },   { "2086", "z890" },
	{ "2094", "z9 EC" }, { "2096", "z9 BC" }, { "2097", "z10 EC" }, { "2098", "z10 BC" },
	{ "2817", "z196" }, { "2818", "z114" }, { "2827", "zEC12" },  { "2828", "zBC12" },
	{ "2964", "z13" },  { "2965", "z13s" }, { "3906", "z14" },    { "3907", "z14 ZR1" },
	{ "8561", "z15" },  { "8562", "z15 T02" }, { "3931", "z16" }, { "3932", "z16 A02" },
	{ "9175", "z17" },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const char *core_name_arm(unsigned implementer, unsigned part)
{
	for (size_t i = 0; i < COUNT(parts); i++) {
		if (parts[i].implementer == implementer && parts[i].part == part)
			return parts[i].name;
	}
	return NULL;
}

const char *core_vendor_arm(unsigned implementer)
{
	for (size_t i = 0; i < COUNT(vendors); i++) {
		if (vendors[i].implementer == implementer)
			return vendors[i].name;
	}
	return NULL;
}

const char *core_name_riscv(const char *uarch)
{
	for (size_t i = 0; i < COUNT(riscv); i++) {
		if (!strcmp(riscv[i].key, uarch))
			return riscv[i].name;
	}
	return NULL;
}

const char *core_name_s390(const char *machine)
{
	for (size_t i = 0; i < COUNT(s390); i++) {
		if (!strcmp(s390[i].key, machine))
			return s390[i].name;
	}
	return NULL;
}
