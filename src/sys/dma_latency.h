/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PM QoS limit on idle states' exit latency, /dev/cpu_dma_latency: a request lives while its
 * descriptor is open, and the smallest of all requests counts (Documentation/power/
 * pm_qos_interface.rst).
 */
#pragma once

#include <stdint.h>

/* The kernel's value while nobody asks for less (PM_QOS_CPU_LATENCY_DEFAULT_VALUE), in µs. */
#define DMA_LATENCY_NONE 2000000000

/* Asks for at most US until *FD is closed. -errno. */
int dma_latency_hold(int32_t us, int *fd);
/* The limit in force now, by whomever. -errno. */
int dma_latency_read(int32_t *us);
