// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latency of a known cause and length, on the CPU that asks for it:
 *
 *	echo "preempt-off 3000" > /sys/module/labnoise/parameters/make
 *
 * keeps preemption off for 3,000 us. Kinds: preempt-off, irqs-off, raw-spinlock, bh-off, plain.
 * Each has a function of its own that is not inlined, so that a stack names it.
 */
#include <linux/bottom_half.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define LONGEST_US 1000000

static DEFINE_RAW_SPINLOCK(labnoise_lock);

static noinline void labnoise_busy(unsigned int us)
{
	u64 end = ktime_get_mono_fast_ns() + (u64)us * NSEC_PER_USEC;

	while (ktime_get_mono_fast_ns() < end)
		cpu_relax();
}

static noinline void labnoise_preempt_off(unsigned int us)
{
	preempt_disable();
	labnoise_busy(us);
	preempt_enable();
}

static noinline void labnoise_irqs_off(unsigned int us)
{
	unsigned long flags;

	local_irq_save(flags);
	labnoise_busy(us);
	local_irq_restore(flags);
}

static noinline void labnoise_raw_spinlock(unsigned int us)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&labnoise_lock, flags);
	labnoise_busy(us);
	raw_spin_unlock_irqrestore(&labnoise_lock, flags);
}

static noinline void labnoise_bh_off(unsigned int us)
{
	local_bh_disable();
	labnoise_busy(us);
	local_bh_enable();
}

static const struct {
	const char *name;
	void (*make)(unsigned int us);
} kinds[] = {
	{ "preempt-off", labnoise_preempt_off },
	{ "irqs-off", labnoise_irqs_off },
	{ "raw-spinlock", labnoise_raw_spinlock },
	{ "bh-off", labnoise_bh_off },
	{ "plain", labnoise_busy },
};

static int labnoise_make(const char *text, const struct kernel_param *param)
{
	char kind[16];
	unsigned int us;
	size_t i;

	if (sscanf(text, "%15s %u", kind, &us) != 2 || us > LONGEST_US)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, kind) == 0) {
			kinds[i].make(us);
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops labnoise_ops = { .set = labnoise_make };
module_param_cb(make, &labnoise_ops, NULL, 0200);

/* Nothing to set up, but only a module with an init function can be removed again. */
static int __init labnoise_init(void)
{
	return 0;
}

static void __exit labnoise_exit(void)
{
}

module_init(labnoise_init);
module_exit(labnoise_exit);
MODULE_DESCRIPTION("latency of a known cause and length");
MODULE_LICENSE("GPL");
