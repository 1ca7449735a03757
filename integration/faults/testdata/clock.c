// Loaded into redis-server: its wall clock is ahead by the microseconds that
// the file named by CLOCK_AHEAD holds; its monotonic clock is left alone.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void begin(void) {
	const char *path = getenv("CLOCK_AHEAD");
	int fd = path ? open(path, O_RDONLY) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED) ahead = at;
}

static int64_t micros(void) {
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000 + (ahead ? *ahead : 0);
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
	int64_t now = micros();
	tv->tv_sec = now / 1000000;
	tv->tv_usec = now % 1000000;
	return 0;
}

time_t time(time_t *t) {
	time_t now = micros() / 1000000;
	if (t) *t = now;
	return now;
}
