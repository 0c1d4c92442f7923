/* Fails the FAIL_AT-th system call that writes to a file below FAIL_UNDER, with errno FAIL_WITH; all later ones work. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/types.h>

static long count = 0;

static int due(int fd) {
  const char *under = getenv("FAIL_UNDER"), *at = getenv("FAIL_AT"), *with = getenv("FAIL_WITH");
  char link[64], path[4096];
  if (!under || !at) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  if (strncmp(path, under, strlen(under))) return 0;
  if (__sync_add_and_fetch(&count, 1) != atol(at)) return 0;
  errno = with ? atoi(with) : EIO;
  return 1;
}

#define NEXT(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)
ssize_t write(int fd, const void *b, size_t n) { NEXT(write); return due(fd) ? -1 : real(fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { NEXT(pwrite); return due(fd) ? -1 : real(fd, b, n, o); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { NEXT(pwrite64); return due(fd) ? -1 : real(fd, b, n, o); }
int fsync(int fd) { NEXT(fsync); return due(fd) ? -1 : real(fd); }
int fdatasync(int fd) { NEXT(fdatasync); return due(fd) ? -1 : real(fd); }
int ftruncate(int fd, off_t n) { NEXT(ftruncate); return due(fd) ? -1 : real(fd, n); }
int ftruncate64(int fd, off64_t n) { NEXT(ftruncate64); return due(fd) ? -1 : real(fd, n); }
