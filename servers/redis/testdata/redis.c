/*
 * What fidelity_redis_test.go preloads into a real redis-server.
 *
 * Its wall clock stands still at the nanoseconds since 1970 that the file
 * LOCKSIM_CLOCK holds, so that a test can set it; its monotonic clock is left
 * alone. And each sync of a file is noted in LOCKSIM_SYNCED as "inode size", so
 * that a test can tell what a power loss would have left of the file.
 *
 * libfaketime cannot do the first: it allocates memory when it starts, and the
 * allocator of Debian's Redis asks for the time when it starts.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t wall(void)
{
	static volatile int64_t *clock;

	if (!clock) {
		int fd = open(getenv("LOCKSIM_CLOCK"), O_RDONLY | O_CLOEXEC);
		void *page = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *clock, PROT_READ, MAP_SHARED, fd, 0);

		if (page == MAP_FAILED)
			_exit(111);
		close(fd);
		clock = page;
	}
	return *clock;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)
		return syscall(SYS_clock_gettime, id, ts);
	int64_t now = wall();
	ts->tv_sec = now / 1000000000;
	ts->tv_nsec = now % 1000000000;
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	(void)zone;
	int64_t now = wall();
	tv->tv_sec = now / 1000000000;
	tv->tv_usec = now % 1000000000 / 1000;
	return 0;
}

time_t time(time_t *t)
{
	time_t now = wall() / 1000000000;

	if (t)
		*t = now;
	return now;
}

/* The size is looked at first: what is written meanwhile may not be on the disk. */
static int note(int fd, long call)
{
	struct stat s;
	int known = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
	int result = syscall(call, fd), notes;

	if (known && result == 0 && (notes = open(getenv("LOCKSIM_SYNCED"), O_WRONLY | O_APPEND | O_CLOEXEC)) >= 0) {
		dprintf(notes, "%ju %jd\n", (uintmax_t)s.st_ino, (intmax_t)s.st_size);
		close(notes);
	}
	return result;
}

int fsync(int fd) { return note(fd, SYS_fsync); }
int fdatasync(int fd) { return note(fd, SYS_fdatasync); }
