// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/wakeup.h"

#include "base/fail.h"
#include "probe/sampler.h"
#include "probe/watchdog.h"
#include "sys/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sources.inc" /* written by Meson from sources.list */

/* A sampler calls nothing deep; sanitizers' runtimes do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_BYTES ((size_t)2 << 20)
#else
#define STACK_BYTES ((size_t)32 << 10)
#endif

/* From "go" to the first sample: time for all threads to wake up and warm up. */
#define LEAD_NS      1000000
#define LEAD_EACH_NS 30000

/* The first samples of all threads lie within this. */
#define SPREAD_NS 100000000

/* How long a stop waits for a thread, and how often it calls again. */
#define STOP_LIMIT_NS 2000000000
#define STOP_STEP_NS  5000000

struct wakeup {
	size_t count;
	size_t made; /* threads that exist */
	struct starting_line line;
	struct watchdog *watchdog;
	int64_t started_ns;
	bool locked;
	size_t block_bytes, stack_bytes, guard_bytes;
	struct sampler *samplers[];
};

static const struct wakeup_source *find_source(const char *name)
{
	for (size_t i = 0; wakeup_sources[i]; i++) {
		if (!strcmp(wakeup_sources[i]->name, name))
			return wakeup_sources[i];
	}
	return NULL;
}

bool wakeup_is_handoff(const char *source)
{
	const struct wakeup_source *found = find_source(source);

	return found && found->handoff;
}

static enum sched_kind kind_of(const char *policy)
{
	static const char *const names[] = {
		[SCHED_KIND_FIFO] = "fifo",
		[SCHED_KIND_RR] = "rr",
		[SCHED_KIND_DEADLINE] = "deadline",
		[SCHED_KIND_OTHER] = "other",
	};

	for (int i = 0; i <= SCHED_KIND_OTHER; i++) {
		if (!strcmp(policy, names[i]))
			return (enum sched_kind)i;
	}
	return SCHED_KIND_OTHER;
}

/* One block: guard page, stack, sampler; present in memory from the start. */
static struct sampler *make_block(const struct wakeup *w)
{
	char *block = mmap(NULL, w->block_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (block == MAP_FAILED)
		return NULL;
	if (mprotect(block, w->guard_bytes, PROT_NONE)) {
		munmap(block, w->block_bytes);
		return NULL;
	}
	return (struct sampler *)(void *)(block + w->guard_bytes + w->stack_bytes);
}

static void free_block(const struct wakeup *w, struct sampler *s)
{
	if (s)
		munmap((char *)s - w->stack_bytes - w->guard_bytes, w->block_bytes);
}

/* The CPU of the I-th waking thread: one after the other of those given, else the sampler's own. */
static int waker_cpu(const struct settings *settings, int cpu, size_t index)
{
	int count = cpuset_count(&settings->wakers), at;

	if (!count)
		return cpu;
	at = cpuset_next(&settings->wakers, -1);
	for (size_t i = index % (size_t)count; i; i--)
		at = cpuset_next(&settings->wakers, at);
	return at;
}

static void set_up(struct sampler *s, const struct wakeup_options *options, size_t index,
		   struct starting_line *line)
{
	const struct settings *settings = options->settings;

	s->line = line;
	s->source = options->source;
	if (options->relative)
		s->source = &wakeup_source_relative;
	else if (!s->source)
		s->source = find_source(settings->source);
	s->hook = options->hook;
	s->index = (int)index;
	s->cpu = options->cpus[index];
	s->waker_cpu = waker_cpu(settings, s->cpu, index);
	s->kind = kind_of(settings->policy);
	s->priority = options->priorities ? options->priorities[index] : (int)settings->priority;
	if (s->kind != SCHED_KIND_DEADLINE && s->priority == 0)
		s->kind = SCHED_KIND_OTHER;
	s->interval_ns =
		options->intervals_ns ? options->intervals_ns[index] : settings->interval_ns;
	s->window_ns = settings->window_ns;
	s->samples_limit = settings->samples;
	s->fixed_phase = settings->fixed_phase;
	s->link = (struct link){ .clock = options->clock,
				 .interval_ns = s->interval_ns,
				 .fds = { -1, -1 } };
	atomic_store(&s->end, CPU_END_DONE);
	atomic_store(&s->total_min_ns, INT64_MAX);
	atomic_store(&s->phase_until_ns, INT64_MAX);
}

static void give_stack(pthread_attr_t *attr, const struct wakeup *w, struct sampler *s)
{
	pthread_attr_init(attr);
	pthread_attr_setstack(attr, (char *)s - w->stack_bytes, w->stack_bytes);
}

static int make_threads(struct wakeup *w, struct fail *fail)
{
	for (; w->made < w->count; w->made++) {
		struct sampler *s = w->samplers[w->made];
		pthread_attr_t attr;
		int err;

		give_stack(&attr, w, s);
		err = pthread_create(&s->thread, &attr, sampler_main, s);
		pthread_attr_destroy(&attr);
		if (err)
			return fail_set(fail, err, "cannot make thread %zu of %zu: %s", w->made + 1,
					w->count, strerror(err));
	}
	return 0;
}

/* The sentence for a refused policy: which right is missing, and the ways to get it. */
static int explain_refusal(const struct sampler *s, struct fail *fail)
{
	const char *policy = s->kind == SCHED_KIND_RR ? "SCHED_RR" : "SCHED_FIFO";

	if (s->fail.text[0]) {
		*fail = s->fail;
		return s->error;
	}
	if (s->kind == SCHED_KIND_DEADLINE && s->error == -EPERM && !geteuid())
		return fail_set(
			fail, EPERM,
			"SCHED_DEADLINE takes no thread that may not run on all CPUs of its "
			"scheduling domain: measure all CPUs, or put these into an isolated cpuset "
			"partition");
	if (s->kind == SCHED_KIND_DEADLINE && s->error == -EBUSY)
		return fail_set(fail, EPERM,
				"SCHED_DEADLINE: the bandwidth of these CPUs is used up");
	if (s->error == -EPERM && !geteuid())
		return fail_set(fail, EPERM,
				"%s is refused even to root: the container has no CAP_SYS_NICE, or "
				"the kernel "
				"has CONFIG_RT_GROUP_SCHED and this cgroup no real-time budget "
				"(run from the "
				"root cgroup)",
				policy);
	if (s->error == -EPERM && s->kind == SCHED_KIND_DEADLINE)
		return fail_set(fail, EPERM,
				"no right to SCHED_DEADLINE: run as root, or 'setcap "
				"cap_sys_nice+ep' on the "
				"program; or measure at normal priority with --policy other");
	if (s->error == -EPERM)
		return fail_set(fail, EPERM,
				"no right to %s priority %d: run as root, or 'setcap "
				"cap_sys_nice+ep' on the "
				"program, or raise 'ulimit -r'; or measure at normal priority with "
				"--policy other",
				policy, s->priority);
	return fail_set(fail, -s->error, "the kernel refuses the scheduling policy: %s",
			strerror(-s->error));
}

static int wait_until_ready(struct wakeup *w, struct fail *fail)
{
	pthread_mutex_lock(&w->line.lock);
	while (w->line.ready < w->count)
		pthread_cond_wait(&w->line.changed, &w->line.lock);
	pthread_mutex_unlock(&w->line.lock);
	for (size_t i = 0; i < w->count; i++) {
		if (atomic_load(&w->samplers[i]->state) == SAMPLER_REFUSED)
			return explain_refusal(w->samplers[i], fail);
	}
	return 0;
}

/* The first instant of the run: soon, or OFFSET behind a full second. */
static int64_t choose_start(const struct wakeup_options *options, size_t count)
{
	int64_t start = clock_read(options->clock) + LEAD_NS + LEAD_EACH_NS * (int64_t)count;

	if (options->align_ns < 0)
		return start;
	return (start / 1000000000 + 1) * 1000000000 + options->align_ns % 1000000000;
}

/* How long after the start thread INDEX takes its first sample: spread over its interval (but not
 * over more than a moment), so that threads do not wake each other's CPUs, unless asked otherwise.
 */
static int64_t first_offset(const struct wakeup *w, const struct wakeup_options *options,
			    size_t index)
{
	int64_t interval;

	if (options->offsets_ns)
		return options->offsets_ns[index];
	if (options->settings->aligned || options->align_ns >= 0)
		return 0;
	interval = w->samplers[index]->interval_ns;
	return (interval < SPREAD_NS ? interval : SPREAD_NS) * (int64_t)index / (int64_t)w->count;
}

static void say_go(struct wakeup *w, const struct wakeup_options *options)
{
	int64_t start = choose_start(options, w->count), length = options->settings->duration_ns;

	w->started_ns = start;
	for (size_t i = 0; i < w->count; i++) {
		struct sampler *s = w->samplers[i];

		s->started_ns = start;
		s->first_ns = start + first_offset(w, options, i);
		atomic_store(&s->next_ns, s->first_ns);
		atomic_store(&s->end_ns, length ? start + length : INT64_MAX);
	}
	pthread_mutex_lock(&w->line.lock);
	w->line.go = true;
	pthread_cond_broadcast(&w->line.changed);
	pthread_mutex_unlock(&w->line.lock);
}

/* Wakers sit below the sampler, so that it preempts them at the hand-off. */
static int make_waker(struct sampler *s, struct fail *fail)
{
	struct sched_param param = { .sched_priority = s->priority > 1 ? s->priority - 1 : 1 };
	struct cpuset cpus = { 0 };
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (s->kind == SCHED_KIND_FIFO || s->kind == SCHED_KIND_RR) {
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
		pthread_attr_setschedparam(&attr, &param);
	}
	if (s->waker_cpu >= 0) {
		cpuset_add(&cpus, s->waker_cpu);
		pthread_attr_setaffinity_np(&attr, sizeof(cpus),
					    (const cpu_set_t *)(const void *)&cpus);
	}
	err = pthread_create(&s->waker, &attr, sampler_waker_main, s);
	pthread_attr_destroy(&attr);
	if (err)
		return fail_set(fail, err, "cannot make the waking thread on CPU %d: %s",
				s->waker_cpu, strerror(err));
	s->waker_made = true;
	return 0;
}

static int make_wakers(struct wakeup *w, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; i < w->count && !err; i++) {
		if (w->samplers[i]->source->handoff)
			err = make_waker(w->samplers[i], fail);
	}
	return err;
}

static struct wakeup *allocate(const struct wakeup_options *options)
{
	struct wakeup *w = calloc(1, sizeof(*w) + options->threads * sizeof(w->samplers[0]));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	long least = sysconf(_SC_THREAD_STACK_MIN);

	if (!w)
		return NULL;
	w->count = options->threads;
	w->guard_bytes = page;
	w->stack_bytes = least > (long)STACK_BYTES ? (size_t)least : STACK_BYTES;
	w->stack_bytes = (w->stack_bytes + page - 1) / page * page;
	w->block_bytes = w->guard_bytes + w->stack_bytes + sizeof(struct sampler);
	pthread_mutex_init(&w->line.lock, NULL);
	pthread_cond_init(&w->line.changed, NULL);
	for (size_t i = 0; i < w->count; i++) {
		w->samplers[i] = make_block(w);
		if (!w->samplers[i]) {
			wakeup_free(w);
			return NULL;
		}
		set_up(w->samplers[i], options, i, &w->line);
	}
	return w;
}

static int highest_priority(const struct wakeup *w)
{
	int highest = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct sampler *s = w->samplers[i];

		if ((s->kind == SCHED_KIND_FIFO || s->kind == SCHED_KIND_RR) &&
		    s->priority > highest)
			highest = s->priority;
	}
	return highest;
}

int wakeup_start(struct wakeup **wakeup, const struct wakeup_options *options, struct fail *fail)
{
	struct wakeup *w = allocate(options);
	int err, highest;

	if (!w)
		return fail_set(fail, ENOMEM, "no memory for %zu sampling threads",
				options->threads);
	sampler_take_stop_signal();
	w->locked = !sched_lock_memory();
	highest = highest_priority(w);
	err = make_threads(w, fail);
	if (!err)
		err = wait_until_ready(w, fail);
	if (!err && options->watchdog && highest)
		err = watchdog_start(&w->watchdog, w->samplers, w->count, highest + 1, fail);
	if (!err) {
		say_go(w, options);
		err = make_wakers(w, fail);
	}
	if (err) {
		wakeup_stop(w);
		wakeup_free(w);
		return err;
	}
	*wakeup = w;
	return 0;
}

static bool has_ended(const struct sampler *s)
{
	return atomic_load_explicit(&s->state, memory_order_acquire) == SAMPLER_ENDED;
}

static bool waker_has_ended(const struct sampler *s)
{
	return atomic_load_explicit(&s->waker_ended, memory_order_acquire);
}

/* Calls THREAD out of its sleep until ENDED says so. False for one that does not end in time (stuck
 * in the kernel). */
static bool call_out(const struct sampler *s, pthread_t thread,
		     bool (*ended)(const struct sampler *s))
{
	int64_t limit = clock_now() + STOP_LIMIT_NS, step = 50000;

	while (!ended(s) && clock_now() < limit) {
		pthread_kill(thread, LINK_STOP_SIGNAL);
		clock_sleep_until(clock_now() + step);
		step = step < STOP_STEP_NS ? 2 * step : step;
	}
	if (ended(s))
		pthread_join(thread, NULL);
	return ended(s);
}

/* What does not end is left behind with its memory. */
static void end_sampler(struct sampler *s)
{
	atomic_store(&s->end_ns, SAMPLER_STOP);
	if (!call_out(s, s->thread, has_ended)) {
		atomic_store(&s->end, CPU_END_FAILED);
		return;
	}
	if (s->waker_made && !call_out(s, s->waker, waker_has_ended))
		return;
	s->waker_made = false;
	if (s->source->close)
		s->source->close(&s->link);
}

void wakeup_stop(struct wakeup *w)
{
	pthread_mutex_lock(&w->line.lock);
	w->line.cancelled = !w->line.go;
	pthread_cond_broadcast(&w->line.changed);
	pthread_mutex_unlock(&w->line.lock);
	watchdog_stop(w->watchdog);
	w->watchdog = NULL;
	for (size_t i = 0; i < w->made; i++)
		atomic_store(&w->samplers[i]->end_ns, SAMPLER_STOP);
	for (size_t i = 0; i < w->made; i++)
		end_sampler(w->samplers[i]);
}

void wakeup_drop(struct wakeup *w, size_t index, enum cpu_end why)
{
	struct sampler *s = w->samplers[index];

	if (has_ended(s))
		return;
	atomic_store(&s->end, (int)why);
	atomic_store(&s->end_ns, SAMPLER_STOP);
	pthread_kill(s->thread, LINK_STOP_SIGNAL);
}

bool wakeup_thread_running(const struct wakeup *w, size_t index)
{
	return !has_ended(w->samplers[index]);
}

bool wakeup_running(const struct wakeup *w)
{
	for (size_t i = 0; i < w->count; i++) {
		if (!has_ended(w->samplers[i]))
			return true;
	}
	return false;
}

pid_t wakeup_tid(const struct wakeup *w, size_t index)
{
	return atomic_load(&w->samplers[index]->tid);
}

int64_t wakeup_started(const struct wakeup *w)
{
	return w->started_ns;
}

bool wakeup_memory_locked(const struct wakeup *w)
{
	return w->locked;
}

int64_t wakeup_sleep_cost(const struct wakeup *w)
{
	int64_t best = w->samplers[0]->sleep_cost_ns;

	for (size_t i = 1; i < w->count; i++) {
		if (w->samplers[i]->sleep_cost_ns < best)
			best = w->samplers[i]->sleep_cost_ns;
	}
	return best;
}

bool wakeup_collect(struct wakeup *w, size_t index, struct window *window)
{
	struct sampler *s = w->samplers[index];
	bool ended = has_ended(s); /* before the ring is looked at: it may fill until then */
	uint32_t tail = atomic_load_explicit(&s->ring_tail, memory_order_relaxed);

	if (tail != atomic_load_explicit(&s->ring_head, memory_order_acquire)) {
		*window = s->ring[tail % SAMPLER_RING];
		atomic_store_explicit(&s->ring_tail, tail + 1, memory_order_release);
		return true;
	}
	if (!ended || !s->count)
		return false;
	sampler_window(s, window);
	s->count = 0;
	return true;
}

int64_t wakeup_room(const struct wakeup *w, int64_t wanted)
{
	const struct sampler *s = sampler_here(w->samplers, w->count);

	return s ? sampler_room(s, wanted, clock_now()) : wanted;
}

void wakeup_wait_for_room(const struct wakeup *w)
{
	int64_t now = clock_now(), at = wakeup_room(w, now);

	if (at > now)
		clock_sleep_until(at);
}

static uint32_t live_count(const struct sampler *s, size_t bucket)
{
	return atomic_load_explicit(&s->live[bucket], memory_order_relaxed);
}

/* The first bucket from AT to HIGH that counted something, else HIGH + 1: most never do. */
static size_t next_live(const struct sampler *s, size_t at, size_t high)
{
	while (at + 3 <= high && !(live_count(s, at) | live_count(s, at + 1) |
				   live_count(s, at + 2) | live_count(s, at + 3)))
		at += 4;
	while (at <= high && !live_count(s, at))
		at++;
	return at;
}

void wakeup_drain(struct wakeup *w, size_t index, struct histogram *histogram)
{
	struct sampler *s = w->samplers[index];
	size_t low = 0, high = HISTOGRAM_BUCKETS - 1;

	/* what lies outside the closed windows' range waits for the next time */
	if (!has_ended(s)) {
		low = histogram_bucket(atomic_load(&s->total_min_ns));
		high = histogram_bucket(atomic_load(&s->total_max_ns));
	}
	for (size_t i = next_live(s, low, high); i <= high; i = next_live(s, i + 1, high)) {
		uint32_t news = live_count(s, i) - (uint32_t)histogram->counts[i];

		histogram->counts[i] += news;
		histogram->count += news;
	}
}

void wakeup_peek(const struct wakeup *w, size_t index, struct wakeup_status *status)
{
	const struct sampler *s = w->samplers[index];
	uint32_t before, after;

	do {
		before = atomic_load(&s->sequence);
		status->samples = atomic_load(&s->total_count);
		status->missed = atomic_load(&s->total_missed);
		status->sum_ns = (double)atomic_load(&s->total_sum_ns);
		status->min_ns = atomic_load(&s->total_min_ns);
		status->max_ns = atomic_load(&s->total_max_ns);
		status->last_ns = atomic_load(&s->last_ns);
		after = atomic_load(&s->sequence);
	} while (before != after || before & 1);
}

void wakeup_result(struct wakeup *w, size_t index, struct cpu_result *result)
{
	const struct sampler *s = w->samplers[index];

	result->cpu = s->cpu >= 0 ? s->cpu : s->index;
	result->end = (enum cpu_end)atomic_load(&s->end);
	result->early = s->early;
	if (result->largest)
		*result->largest = s->largest;
}

void wakeup_free(struct wakeup *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++) {
		/* a thread that never ended still uses its block */
		if (w->samplers[i] && !w->samplers[i]->waker_made &&
		    (i >= w->made || has_ended(w->samplers[i])))
			free_block(w, w->samplers[i]);
	}
	pthread_cond_destroy(&w->line.changed);
	pthread_mutex_destroy(&w->line.lock);
	munlockall();
	free(w);
}
