/*
 * The CPU test as a C programmer writes it, for benches/cpu_loop.rs: reads a number of iterations a line, and prints
 * the answer, the nanoseconds that passed and those on the CPU.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

__attribute__((noinline)) static double computed(long iterations)
{
	double n = 0;

	for (long f = 1; f <= iterations; f++)
		n = fmod(n, 999999) + sqrt(f);
	return n;
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(void)
{
	long iterations;

	while (scanf("%ld", &iterations) == 1) {
		int64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		int64_t wall = now_ns(CLOCK_MONOTONIC);
		double answer = computed(iterations);

		wall = now_ns(CLOCK_MONOTONIC) - wall;
		cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		printf("%.17g %" PRId64 " %" PRId64 "\n", answer, wall, cpu);
		fflush(stdout);
	}
	return 0;
}
