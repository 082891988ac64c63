// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/watchdog.h"

#include "base/fail.h"
#include "probe/sampler.h"
#include "sys/clock.h"
#include "sys/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Between two looks; where a random phase comes in between they may be that much closer. */
#define PERIOD_NS 1000000000
#define LEAST_NS  (PERIOD_NS / 4 * 3)

/* A sampler that used more than this share of the wall clock in each of so many periods in a row is
 * a runaway. RT throttling by default leaves 95 %, so the share must lie below that. */
#define RUNAWAY_PERCENT 90
#define RUNAWAY_PERIODS 2

struct watched {
	int64_t used_ns;
	int strikes;
};

struct watchdog {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	struct sampler *const *samplers;
	size_t count;
	struct watched watched[];
};

static int64_t thread_time(pthread_t thread)
{
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock))
		return 0;
	return clock_read(clock);
}

static void watch(struct sampler *s, struct watched *w, int64_t elapsed)
{
	int64_t used;

	if (atomic_load(&s->state) != SAMPLER_RUNNING)
		return;
	used = thread_time(s->thread);
	w->strikes = used - w->used_ns > elapsed / 100 * RUNAWAY_PERCENT ? w->strikes + 1 : 0;
	w->used_ns = used;
	if (w->strikes < RUNAWAY_PERIODS)
		return;
	sched_set(atomic_load(&s->tid), SCHED_KIND_OTHER, 0);
	atomic_store(&s->end, CPU_END_RUNAWAY);
	atomic_store(&s->end_ns, SAMPLER_STOP);
}

/* Where the watchdog shares the CPU with a sampler it wakes up right after a sample. */
static struct timespec next_wakeup(const struct watchdog *dog, int64_t wanted)
{
	const struct sampler *s = sampler_here(dog->samplers, dog->count);

	return clock_to(s ? sampler_room(s, wanted, clock_now()) : wanted);
}

static void *watchdog_main(void *argument)
{
	struct watchdog *dog = argument;
	int64_t last = clock_now();

	signals_block();
	pthread_mutex_lock(&dog->lock);
	while (!dog->stop) {
		struct timespec until = next_wakeup(dog, last + PERIOD_NS);
		int64_t now;

		pthread_cond_timedwait(&dog->changed, &dog->lock, &until);
		now = clock_now();
		if (now < last + LEAST_NS)
			continue;
		for (size_t i = 0; i < dog->count; i++)
			watch(dog->samplers[i], &dog->watched[i], now - last);
		last = now;
	}
	pthread_mutex_unlock(&dog->lock);
	return NULL;
}

static int make_thread(struct watchdog *dog, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	err = pthread_create(&dog->thread, &attr, watchdog_main, dog);
	pthread_attr_destroy(&attr);
	return err;
}

int watchdog_start(struct watchdog **watchdog, struct sampler *const *samplers, size_t count,
		   int priority, struct fail *fail)
{
	struct watchdog *dog = calloc(1, sizeof(*dog) + count * sizeof(dog->watched[0]));
	pthread_condattr_t attr;
	int err;

	if (!dog)
		return fail_set(fail, ENOMEM, "out of memory");
	dog->samplers = samplers;
	dog->count = count;
	pthread_mutex_init(&dog->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dog->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = make_thread(dog, priority);
	if (err) {
		free(dog);
		return fail_set(
			fail, err,
			"the watchdog above the samplers can't have priority %d: %s; choose a "
			"lower --priority",
			priority, strerror(err));
	}
	*watchdog = dog;
	return 0;
}

void watchdog_stop(struct watchdog *dog)
{
	if (!dog)
		return;
	pthread_mutex_lock(&dog->lock);
	dog->stop = true;
	pthread_cond_signal(&dog->changed);
	pthread_mutex_unlock(&dog->lock);
	pthread_join(dog->thread, NULL);
	pthread_cond_destroy(&dog->changed);
	pthread_mutex_destroy(&dog->lock);
	free(dog);
}
