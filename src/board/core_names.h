/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CPU cores are called, by the numbers they identify themselves with. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* ARM's Main ID Register: implementer [31:24], variant [23:20], architecture [19:16], part [15:4],
 * revision [3:0] (Arm Architecture Reference Manual, MIDR_EL1). */
#define MIDR_IMPLEMENTER(midr) ((midr) >> 24 & 0xff)
#define MIDR_VARIANT(midr)     ((midr) >> 20 & 0xf)
#define MIDR_PART(midr)        ((midr) >> 4 & 0xfff)
#define MIDR_REVISION(midr)    ((midr)&0xf)

/* "Cortex-A53"; NULL for a part that is not in the table. */
const char *core_name_arm(unsigned implementer, unsigned part);
/* "Arm", "Qualcomm"; NULL. */
const char *core_vendor_arm(unsigned implementer);
/* For /proc/cpuinfo's "uarch" of RISC-V ("sifive,u74-mc"), the maker's own spelling; NULL. */
const char *core_name_riscv(const char *uarch);
/* For the machine number of IBM Z ("2964"): "z13"; NULL. */
const char *core_name_s390(const char *machine);
