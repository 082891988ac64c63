// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/sampler.h"

#include "sys/clock.h"
#include "sys/signals.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

/* Wake-ups before the first sample that warm caches and are not counted, and their distance. */
#define WARM_UPS        3
#define WARM_UP_STEP_NS 100000

/* Sleeps whose time has come, to see what a sleep costs without waiting. */
#define FLOOR_ROUNDS 20

/* What others do on the sampler's CPU begins so long after a sample (a quarter of shorter
 * intervals): the sample is taken by then even on slow boards. */
#define AFTER_NS 100000
/* It is done within so much (half of shorter intervals): where no sample is that near, it may begin
 * at any time. */
#define ROOM_NS 2000000
/* There is no keeping out of the way of shorter intervals, nor with windows so short that looking
 * up each one's phase would wake more often than it helps. */
#define ROOM_LEAST_INTERVAL_NS 40000
#define ROOM_LEAST_WINDOW_NS   100000000

/* Plain loads and stores: each of these fields has one writer. */
#define peek(field)        atomic_load_explicit(&(field), memory_order_relaxed)
#define poke(field, value) atomic_store_explicit(&(field), (value), memory_order_relaxed)

/* xorshift64* (Vigna 2016): enough to keep the phase from locking to the tick. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* From the start instant, so that a board whose clock starts alike measures alike. */
static uint64_t seed(const struct sampler *s)
{
	return (uint64_t)s->first_ns * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)s->index + 1;
}

static void window_set_end(struct sampler *s, int64_t end)
{
	s->window_end_ns = end;
	if (!s->fixed_phase)
		poke(s->phase_until_ns, end);
}

static void window_begin(struct sampler *s, int64_t start)
{
	s->window_start_ns = start;
	s->sum_squares = 0;
	s->moves = 0;
	s->count = 0;
	s->missed = 0;
	s->sum_ns = 0;
	s->min_ns = INT64_MAX;
	s->max_ns = -1;
}

static void add_to_totals(struct sampler *s, int64_t last)
{
	poke(s->last_ns, last);
	poke(s->total_count, peek(s->total_count) + s->count);
	poke(s->total_missed, peek(s->total_missed) + s->missed);
	poke(s->total_sum_ns, peek(s->total_sum_ns) + s->sum_ns);
	if (s->min_ns < peek(s->total_min_ns))
		poke(s->total_min_ns, s->min_ns);
	if (s->max_ns > peek(s->total_max_ns))
		poke(s->total_max_ns, s->max_ns);
}

void sampler_window(const struct sampler *s, struct window *window)
{
	*window = (struct window){
		.start_ns = s->window_start_ns - s->started_ns,
		.length_ns = s->window_end_ns - s->window_start_ns,
		.count = s->count,
		.missed = s->missed,
		.min_ns = s->min_ns,
		.max_ns = s->max_ns,
		.max_at_ns = s->max_at_ns - s->started_ns,
		.sum_ns = (double)s->sum_ns,
		.sum_squares = s->sum_squares,
		.moves = s->cpu_word != &s->on_cpu ? s->moves : -1,
		.faults = -1,
		.switches = -1,
		.steal_ns = -1,
	};
}

/* Hands the window over when NEXT lies behind its end. Where the control thread has not kept up the
 * window goes on instead: nothing is lost but resolution. Returns the next instant, moved by a
 * random phase unless it is fixed. LAST is the last latency. */
static int64_t window_close(struct sampler *s, int64_t next, int64_t last)
{
	uint32_t head = peek(s->ring_head);
	int64_t end = s->window_end_ns;

	if (head - atomic_load_explicit(&s->ring_tail, memory_order_acquire) < SAMPLER_RING) {
		/* a stall can have swallowed whole windows: they belong to this one */
		while (s->window_end_ns + s->window_ns <= next)
			s->window_end_ns += s->window_ns;
		end = s->window_end_ns;
		sampler_window(s, &s->ring[head % SAMPLER_RING]);
		atomic_store_explicit(&s->ring_head, head + 1, memory_order_release);
		atomic_fetch_add(&s->sequence, 1);
		add_to_totals(s, last);
		window_begin(s, end);
		atomic_fetch_add(&s->sequence, 1);
	}
	window_set_end(s, s->window_end_ns + s->window_ns);
	if (s->fixed_phase)
		return next;
	return next + (int64_t)(next_random(&s->random) % (uint64_t)s->interval_ns);
}

/* Counts one latency. Every instruction here is paid at every sample. */
__attribute__((always_inline)) static inline void record(struct sampler *s, int64_t expected,
							 int64_t latency)
{
	_Atomic uint32_t *bucket = &s->live[histogram_bucket_inside((uint64_t)latency)];

	poke(*bucket, peek(*bucket) + 1);
	s->count++;
	s->sum_ns += (uint64_t)latency;
	s->sum_squares += (double)latency * (double)latency;
	if (latency < s->min_ns)
		s->min_ns = latency;
	if (latency > s->max_ns) {
		s->max_ns = latency;
		s->max_at_ns = expected;
	}
	largest_record(&s->largest, expected - s->started_ns, latency);
}

/* The instant of the next wake-up where latencies are special: periods that passed while the thread
 * did not run are counted as missed; a hand-off is declared taken; the hook is called. */
static int64_t special(struct sampler *s, int64_t expected, int64_t latency)
{
	int64_t missed = latency < s->interval_ns ? 0 : latency / s->interval_ns;

	if (s->source->handoff) {
		missed = atomic_exchange_explicit(&s->link.skipped, 0, memory_order_relaxed);
		atomic_store_explicit(&s->link.sent, 0, memory_order_release);
	}
	s->missed += (uint64_t)missed;
	if (s->hook.sample)
		s->hook.sample(s->hook.context, s->index, latency);
	return expected + (missed + 1) * s->interval_ns;
}

/* A latency outside the histogram: before the time, or over an hour. */
static int64_t outlandish(struct sampler *s, int64_t latency)
{
	if (latency > HISTOGRAM_HIGHEST)
		return latency;
	s->early++;
	return 0;
}

__attribute__((noinline)) static void record_outlandish(struct sampler *s, int64_t expected,
							int64_t latency)
{
	int64_t counted = outlandish(s, latency);

	record(s, expected, counted > HISTOGRAM_HIGHEST ? HISTOGRAM_HIGHEST : counted);
	if (counted > s->max_ns)
		s->max_ns = counted;
}

/* False once a pinned thread finds itself elsewhere: its CPU went away, or somebody moved it. */
static bool still_at_home(struct sampler *s)
{
	if (__builtin_expect(*s->cpu_word == s->on_cpu, 1))
		return true;
	if (s->cpu >= 0) {
		poke(s->end, sched_cpu_online(s->cpu) ? CPU_END_MOVED : CPU_END_OFFLINE);
		return false;
	}
	s->on_cpu = *s->cpu_word;
	s->moves++;
	return true;
}

/* True when waiting may go on after an error of the source. */
static bool wait_failed(struct sampler *s, int64_t error)
{
	if (error == -EINTR)
		return true;
	s->error = (int)error;
	poke(s->end, CPU_END_FAILED);
	return false;
}

/* Takes one sample and returns the next instant to wake up at. */
static int64_t take(struct sampler *s, int64_t expected, int64_t now)
{
	int64_t latency = now - expected, next = expected + s->interval_ns;

	if (__builtin_expect((uint64_t)latency <= HISTOGRAM_HIGHEST, 1))
		record(s, expected, latency);
	else
		record_outlandish(s, expected, latency);
	if (__builtin_expect(latency >= s->special_ns, 0))
		next = special(s, expected, latency);
	if (__builtin_expect(next >= s->window_end_ns, 0))
		next = window_close(s, next, latency);
	return next;
}

/* Wakes up a few times without counting, so that caches are warm and the first sample is like the
 * others. A start that took too long itself (many threads on one CPU) is not the board's latency:
 * the first sample then waits for the next period. Returns its instant. */
static int64_t warm_up(struct sampler *s)
{
	int64_t next = s->first_ns - WARM_UPS * WARM_UP_STEP_NS, now = 0;

	if (s->first_ns >= peek(s->end_ns)) /* the run is shorter than the interval */
		return s->first_ns;
	while (next < s->first_ns && peek(s->end_ns) != SAMPLER_STOP) {
		if (s->source->wait(&s->link, next) == -EINTR)
			continue;
		now = clock_read(s->link.clock);
		atomic_store_explicit(&s->link.sent, 0, memory_order_release);
		next += WARM_UP_STEP_NS;
	}
	if (now >= next)
		next += ((now - next) / s->interval_ns + 1) * s->interval_ns;
	return next;
}

static void run(struct sampler *s)
{
	int64_t next = warm_up(s);
	uint64_t left = s->samples_limit ? s->samples_limit : UINT64_MAX;

	while (next < peek(s->end_ns)) {
		int64_t expected, now;

		poke(s->next_ns, next);
		expected = s->source->wait(&s->link, next);
		now = clock_read(s->link.clock);
		if (__builtin_expect(expected < 0, 0)) {
			if (!wait_failed(s, expected))
				break;
			continue;
		}
		if (!still_at_home(s))
			break;
		next = take(s, expected, now);
		if (!--left)
			break;
	}
}

/* Pins, opens the source and takes the policy: all that can be refused. */
static int prepare(struct sampler *s)
{
	struct cpuset home = { 0 };
	int err = 0;

	signals_block();
	poke(s->tid, sched_tid());
	if (s->cpu >= 0) {
		cpuset_add(&home, s->cpu);
		err = sched_set_cpus(&home);
		if (err)
			return fail_set(&s->fail, -err,
					"CPU %d is off line or not allowed here: %s", s->cpu,
					strerror(-err));
	}
	s->cpu_word = sched_cpu_word();
	if (!s->cpu_word)
		s->cpu_word = &s->on_cpu;
	s->on_cpu = *s->cpu_word;
	/* a hook and a hand-off need a look at every sample */
	s->special_ns = s->hook.sample || s->source->handoff ? INT64_MIN : s->interval_ns;
	if (s->source->open)
		err = s->source->open(&s->link, &s->fail);
	if (err)
		return err;
	if (s->kind == SCHED_KIND_DEADLINE)
		err = sched_set_deadline(s->interval_ns / 4, s->interval_ns);
	else
		err = sched_set(0, s->kind, s->priority);
	if (!err) /* at the sampler's own priority: a sleep gives the CPU away */
		s->sleep_cost_ns = clock_sleep_cost(FLOOR_ROUNDS);
	/* the sentence for a refusal depends on rights and kernel: the control thread writes it */
	return err;
}

/* Reports READY or REFUSED and waits for the control thread's word. True to run. */
static bool wait_for_go(struct sampler *s, enum sampler_state state)
{
	struct starting_line *line = s->line;
	bool go;

	pthread_mutex_lock(&line->lock);
	poke(s->state, (int)state);
	line->ready++;
	pthread_cond_broadcast(&line->changed);
	while (!line->go && !line->cancelled)
		pthread_cond_wait(&line->changed, &line->lock);
	go = line->go && !line->cancelled;
	pthread_mutex_unlock(&line->lock);
	return go && state == SAMPLER_READY;
}

static void on_stop_signal(int number)
{
	(void)number;
}

void sampler_take_stop_signal(void)
{
	struct sigaction action = { .sa_handler = on_stop_signal };

	sigaction(LINK_STOP_SIGNAL, &action, NULL);
}

/* The one signal a sampler or a waker takes: it cuts the sleep short, so that it sees that it
 * should end. */
static void hear_stop_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, LINK_STOP_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* The last window is as long as the run went. */
static void end_last_window(struct sampler *s)
{
	int64_t now = clock_read(s->link.clock);

	if (now > s->window_start_ns && now < s->window_end_ns)
		s->window_end_ns = now;
}

void *sampler_main(void *argument)
{
	struct sampler *s = argument;

	s->error = prepare(s);
	if (wait_for_go(s, s->error ? SAMPLER_REFUSED : SAMPLER_READY)) {
		hear_stop_signal();
		s->random = seed(s);
		window_begin(s, s->started_ns);
		window_set_end(s, s->started_ns + s->window_ns);
		poke(s->state, SAMPLER_RUNNING);
		run(s);
		end_last_window(s);
	}
	sched_set(0, SCHED_KIND_OTHER, 0); /* what follows need not be done before others */
	atomic_store_explicit(&s->state, SAMPLER_ENDED, memory_order_release);
	return NULL;
}

static int64_t shorter(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The last sample whose instant is known: a random phase moves those behind, and only ever away. */
static int64_t last_known(const struct sampler *s, int64_t next)
{
	int64_t until = peek(s->phase_until_ns);

	return until > next ? next + (until - 1 - next) / s->interval_ns * s->interval_ns : next;
}

static bool tells_its_samples(const struct sampler *s)
{
	return atomic_load_explicit(&s->state, memory_order_acquire) == SAMPLER_RUNNING &&
	       s->link.clock == CLOCK_MONOTONIC && s->interval_ns >= ROOM_LEAST_INTERVAL_NS &&
	       (s->fixed_phase || s->window_ns >= ROOM_LEAST_WINDOW_NS);
}

int64_t sampler_room(const struct sampler *s, int64_t wanted, int64_t now)
{
	int64_t after = shorter(s->interval_ns / 4, AFTER_NS);
	int64_t room = shorter(s->interval_ns / 2, ROOM_NS);
	int64_t next = peek(s->next_ns), last, sample;

	if (!tells_its_samples(s) || wanted + room < next)
		return wanted;
	last = last_known(s, next);
	/* the last one before what begins at WANTED is done */
	sample = next + (wanted + room - next) / s->interval_ns * s->interval_ns;
	if (sample <= last && sample + after <= wanted)
		return wanted;
	sample = shorter(sample, last);
	return sample + after > now ? sample + after : wanted;
}

const struct sampler *sampler_here(struct sampler *const *samplers, size_t count)
{
	int cpu = sched_getcpu();

	for (size_t i = 0; i < count; i++) {
		if (samplers[i]->cpu < 0 || samplers[i]->cpu == cpu)
			return samplers[i];
	}
	return NULL;
}

/* The instant of the next hand-off after SENT; jumps by a random phase when a window ends. */
static int64_t waker_next(struct sampler *s, int64_t sent, int64_t *window_end, uint64_t *random)
{
	int64_t next = sent + s->interval_ns;

	if (next < *window_end)
		return next;
	while (*window_end <= next)
		*window_end += s->window_ns;
	if (s->fixed_phase)
		return next;
	return next + (int64_t)(next_random(random) % (uint64_t)s->interval_ns);
}

static void hand_off(struct sampler *s)
{
	if (atomic_load_explicit(&s->link.sent, memory_order_acquire)) {
		atomic_fetch_add_explicit(&s->link.skipped, 1, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&s->link.sent, clock_read(s->link.clock), memory_order_release);
	s->source->wake(&s->link);
}

/* False once a pinned waker finds itself elsewhere: the hand-offs are not what was asked for then.
 */
static bool waker_at_home(struct sampler *s, const volatile uint32_t *cpu_word)
{
	if (!cpu_word || s->waker_cpu < 0 || *cpu_word == (uint32_t)s->waker_cpu)
		return true;
	poke(s->end, CPU_END_FAILED);
	poke(s->end_ns, SAMPLER_STOP);
	pthread_kill(s->thread, LINK_STOP_SIGNAL);
	return false;
}

static bool waker_should_go_on(struct sampler *s)
{
	return atomic_load_explicit(&s->state, memory_order_acquire) != SAMPLER_ENDED &&
	       peek(s->end_ns) != SAMPLER_STOP;
}

static void wake_until_the_end(struct sampler *s)
{
	const volatile uint32_t *cpu_word = sched_cpu_word();
	uint64_t random = seed(s);
	int64_t next = s->first_ns - WARM_UPS * WARM_UP_STEP_NS;
	int64_t window_end = s->started_ns + s->window_ns;

	while (waker_should_go_on(s)) {
		struct timespec ts = clock_to(next);

		if (clock_nanosleep(s->link.clock, TIMER_ABSTIME, &ts, NULL))
			continue;
		if (!waker_at_home(s, cpu_word))
			return;
		hand_off(s);
		if (next < s->first_ns)
			next += WARM_UP_STEP_NS;
		else
			next = waker_next(s, next, &window_end, &random);
		while (next < clock_read(s->link.clock) - s->interval_ns) {
			/* the waker itself was kept from running: those periods are missed too */
			next += s->interval_ns;
			atomic_fetch_add_explicit(&s->link.skipped, 1, memory_order_relaxed);
		}
	}
}

void *sampler_waker_main(void *argument)
{
	struct sampler *s = argument;

	signals_block();
	hear_stop_signal();
	wake_until_the_end(s);
	atomic_store_explicit(&s->waker_ended, true, memory_order_release);
	return NULL;
}
