/* Fails system calls on files below FAIL_UNDER. Between io_arm and io_disarm calls are counted, and the AT-th fails with
   errno CODE; with STICKY every later one fails too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long count, wanted;
static int armed, started, code, sticky;

void io_arm(long at, int with, int stays) { wanted = at, code = with, sticky = stays, armed = started = 1; }
void io_disarm(void) { armed = 0; }
void io_rearm(void) { armed = started; }
int io_count(void) { return count; }

static int name_of(int fd, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, size - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return 1;
}

static int due_at(const char *path) {
  const char *under = getenv("FAIL_UNDER");
  if (!under || strncmp(path, under, strlen(under))) return 0;
  long now = __sync_add_and_fetch(&count, 1);
  if (now != wanted && !(sticky && wanted && now > wanted)) return 0;
  errno = code;
  return 1;
}

static int due(int fd) {
  char path[4096];
  int before = errno;
  if (!armed) return 0;
  int found = name_of(fd, path, sizeof path);
  errno = before;
  return found && due_at(path);
}

static int due_path(int folder, const char *path) {
  char full[8192];
  if (!armed || !path) return 0;
  if (*path == '/') return due_at(path);
  if (folder == AT_FDCWD ? !getcwd(full, 4096) : !name_of(folder, full, 4096)) return 0;
  strcat(full, "/");
  strncat(full, path, sizeof full - strlen(full) - 1);
  return due_at(full);
}

#define NEXT(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define BY_FD(type, name, parameters, arguments) \
  type name parameters { NEXT(name); return due(fd) ? -1 : real arguments; }
#define BY_PATH(name, parameters, arguments, folder, path) \
  int name parameters { NEXT(name); return due_path(folder, path) ? -1 : real arguments; }

BY_FD(ssize_t, read, (int fd, void *b, size_t n), (fd, b, n))
BY_FD(ssize_t, pread, (int fd, void *b, size_t n, off_t o), (fd, b, n, o))
BY_FD(ssize_t, pread64, (int fd, void *b, size_t n, off64_t o), (fd, b, n, o))
BY_FD(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n))
BY_FD(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
BY_FD(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
BY_FD(int, fsync, (int fd), (fd))
BY_FD(int, fdatasync, (int fd), (fd))
BY_FD(int, ftruncate, (int fd, off_t n), (fd, n))
BY_FD(int, ftruncate64, (int fd, off64_t n), (fd, n))
BY_FD(int, fallocate, (int fd, int m, off_t o, off_t n), (fd, m, o, n))
BY_FD(int, fallocate64, (int fd, int m, off64_t o, off64_t n), (fd, m, o, n))
BY_FD(int, fstat, (int fd, struct stat *s), (fd, s))
BY_FD(int, fchmod, (int fd, mode_t m), (fd, m))
BY_FD(int, futimens, (int fd, const struct timespec t[2]), (fd, t))
ssize_t copy_file_range(int in, off64_t *i, int fd, off64_t *o, size_t n, unsigned f) {
  NEXT(copy_file_range);
  return due(fd) ? -1 : real(in, i, fd, o, n, f);
}
ssize_t sendfile(int fd, int in, off_t *o, size_t n) {
  static ssize_t (*real)(int, int, off_t *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "sendfile");
  return due(fd) ? -1 : real(fd, in, o, n);
}
BY_PATH(rename, (const char *a, const char *b), (a, b), AT_FDCWD, b)
BY_PATH(renameat, (int f, const char *a, int g, const char *b), (f, a, g, b), g, b)
BY_PATH(renameat2, (int f, const char *a, int g, const char *b, unsigned x), (f, a, g, b, x), g, b)
BY_PATH(link, (const char *a, const char *b), (a, b), AT_FDCWD, b)
BY_PATH(linkat, (int f, const char *a, int g, const char *b, int x), (f, a, g, b, x), g, b)
BY_PATH(symlink, (const char *a, const char *b), (a, b), AT_FDCWD, b)
BY_PATH(symlinkat, (const char *a, int g, const char *b), (a, g, b), g, b)
BY_PATH(unlink, (const char *a), (a), AT_FDCWD, a)
BY_PATH(unlinkat, (int f, const char *a, int x), (f, a, x), f, a)
BY_PATH(rmdir, (const char *a), (a), AT_FDCWD, a)
BY_PATH(mkdir, (const char *a, mode_t m), (a, m), AT_FDCWD, a)
BY_PATH(mkdirat, (int f, const char *a, mode_t m), (f, a, m), f, a)
BY_PATH(utimensat, (int f, const char *a, const struct timespec t[2], int x), (f, a, t, x), f, a)

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(name); \
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
    return due_path(AT_FDCWD, path) ? -1 : real(path, flags, mode); \
  }
#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(name); \
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
    return due_path(folder, path) ? -1 : real(folder, path, flags, mode); \
  }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)
