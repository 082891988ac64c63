/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The surroundings of a measurement, read through the root into a flat list: what two sessions must
 * have in common before their figures may be compared. What could not be read is unknown, with the
 * path and the error as its reason. Reading writes nothing, mounts nothing, and on this machine
 * leaves out files whose reading interrupts isolated CPUs. The board is named by a hash, its host
 * name never.
 *
 * Keys (a part after a dot names the thing: a policy, a zone):
 *   punctual_version kernel_release kernel_version architecture preempt_rt ("yes", "no")
 *   kernel_config_sha256 (of its uncompressed text) command_line
 *   board_id board_id_from board_model virtual_machine ("no", or its name)
 *   cpus_online cpus_isolated cpus_nohz_full (lists)
 *   governor.P frequency_max_khz.P frequency_before_khz.P frequency_after_khz.P boost
 *   idle_driver idle_governor idle_deepest ("C6 133 µs on 0-3; …", the deepest enabled state)
 *   clock_source clock_event irq_affinity_default irq_affinities ("24:0-3 25:1", those with
 * handlers) rt_runtime_us rt_period_us (-1: no limit) swap_kb dma_latency_us ("not held", or the
 * limit) tracing_on ("no", or what is on) temperature_before_mdeg.Z temperature_after_mdeg.Z
 * load_average_before load_average_after steal_before_ms steal_during_ms
 */
#pragma once

struct environment;
struct root;

/* Call before a run. 0 or -ENOMEM. */
int surroundings_read(const struct root *root, struct environment *environment);
/* Call after it, with the same ENVIRONMENT: adds what changes while one measures. 0 or -ENOMEM. */
int surroundings_after(const struct root *root, struct environment *environment);
