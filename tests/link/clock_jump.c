/* Moves the wall clock of this process by the seconds that the file CLOCK_AHEAD holds (an int64, which may change at
   any time). The monotonic clock stays as it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void open_ahead(void) {
  const char *path = getenv("CLOCK_AHEAD");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *seen = fd < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
  ahead = seen == MAP_FAILED ? 0 : seen;
}

static int64_t seconds(void) { return ahead ? *ahead : 0; }

#define NEXT(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)
int clock_gettime(clockid_t id, struct timespec *t) {
  NEXT(clock_gettime);
  int failed = real(id, t);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += seconds();
  return failed;
}
int gettimeofday(struct timeval *t, void *zone) {
  NEXT(gettimeofday);
  int failed = real(t, zone);
  if (!failed) t->tv_sec += seconds();
  return failed;
}
time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return t ? (*t = now.tv_sec) : now.tv_sec;
}
