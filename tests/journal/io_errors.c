/* Fails system calls on files below FAIL_UNDER. Between io_arm and io_disarm calls are counted, and the AT-th fails with
   errno CODE; with STICKY every later one fails too. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static long count, wanted;
static int armed, started, code, sticky;

void io_arm(long at, int with, int stays) { wanted = at, code = with, sticky = stays, armed = started = 1; }
void io_disarm(void) { armed = 0; }
void io_rearm(void) { armed = started; }
int io_count(void) { return count; }

#define NEXT(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)

static int name_of(int fd, char *path, size_t size) {
  NEXT(readlink);
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = real(link, path, size - 1);
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

#define BY_FD(type, name, parameters, arguments) \
  type name parameters { NEXT(name); return due(fd) ? -1 : real arguments; }
#define BY_PATH(name, parameters, arguments, folder, path) SIZED_BY_PATH(int, name, parameters, arguments, folder, path)
#define SIZED_BY_PATH(type, name, parameters, arguments, folder, path) \
  type name parameters { NEXT(name); return due_path(folder, path) ? -1 : real arguments; }

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
BY_FD(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n))
BY_FD(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
BY_FD(off_t, lseek, (int fd, off_t o, int w), (fd, o, w))
BY_FD(off64_t, lseek64, (int fd, off64_t o, int w), (fd, o, w))
BY_FD(int, flock, (int fd, int how), (fd, how))
BY_FD(int, fstat, (int fd, struct stat *s), (fd, s))
BY_FD(int, fstat64, (int fd, struct stat64 *s), (fd, s))
BY_FD(int, fstatvfs, (int fd, struct statvfs *s), (fd, s))
BY_FD(int, fstatvfs64, (int fd, struct statvfs64 *s), (fd, s))
BY_FD(int, fchown, (int fd, uid_t u, gid_t g), (fd, u, g))
BY_FD(ssize_t, flistxattr, (int fd, char *l, size_t n), (fd, l, n))
BY_FD(ssize_t, fgetxattr, (int fd, const char *a, void *v, size_t n), (fd, a, v, n))
BY_FD(int, fsetxattr, (int fd, const char *a, const void *v, size_t n, int f), (fd, a, v, n, f))
BY_FD(int, fchmod, (int fd, mode_t m), (fd, m))
BY_FD(int, futimens, (int fd, const struct timespec t[2]), (fd, t))
/* A file that could not be closed is closed all the same. */
int close(int fd) {
  NEXT(close);
  int fails = due(fd), done = real(fd);
  return fails ? (errno = code, -1) : done;
}
void *mmap(void *a, size_t n, int p, int f, int fd, off_t o) {
  NEXT(mmap);
  return fd >= 0 && due(fd) ? MAP_FAILED : real(a, n, p, f, fd, o);
}
void *mmap64(void *a, size_t n, int p, int f, int fd, off64_t o) {
  NEXT(mmap64);
  return fd >= 0 && due(fd) ? MAP_FAILED : real(a, n, p, f, fd, o);
}
struct dirent *readdir(DIR *d) { NEXT(readdir); return due(dirfd(d)) ? NULL : real(d); }
struct dirent64 *readdir64(DIR *d) { NEXT(readdir64); return due(dirfd(d)) ? NULL : real(d); }
DIR *fdopendir(int fd) { NEXT(fdopendir); return due(fd) ? NULL : real(fd); }
DIR *opendir(const char *path) { NEXT(opendir); return due_path(AT_FDCWD, path) ? NULL : real(path); }
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
SIZED_BY_PATH(ssize_t, readlink, (const char *a, char *b, size_t n), (a, b, n), AT_FDCWD, a)
SIZED_BY_PATH(ssize_t, readlinkat, (int f, const char *a, char *b, size_t n), (f, a, b, n), f, a)
BY_PATH(stat, (const char *a, struct stat *s), (a, s), AT_FDCWD, a)
BY_PATH(stat64, (const char *a, struct stat64 *s), (a, s), AT_FDCWD, a)
BY_PATH(lstat, (const char *a, struct stat *s), (a, s), AT_FDCWD, a)
BY_PATH(lstat64, (const char *a, struct stat64 *s), (a, s), AT_FDCWD, a)
BY_PATH(fstatat, (int f, const char *a, struct stat *s, int x), (f, a, s, x), f, a)
BY_PATH(fstatat64, (int f, const char *a, struct stat64 *s, int x), (f, a, s, x), f, a)
BY_PATH(statvfs, (const char *a, struct statvfs *s), (a, s), AT_FDCWD, a)
BY_PATH(statvfs64, (const char *a, struct statvfs64 *s), (a, s), AT_FDCWD, a)
BY_PATH(access, (const char *a, int m), (a, m), AT_FDCWD, a)
BY_PATH(chmod, (const char *a, mode_t m), (a, m), AT_FDCWD, a)
BY_PATH(fchmodat, (int f, const char *a, mode_t m, int x), (f, a, m, x), f, a)
BY_PATH(fchownat, (int f, const char *a, uid_t u, gid_t g, int x), (f, a, u, g, x), f, a)

/* What takes one more word, whatever it is. */
#define WITH_ONE_MORE(name, type, can_fail) \
  int name(int fd, type what, ...) { \
    NEXT(name); \
    va_list given; va_start(given, what); void *more = va_arg(given, void *); va_end(given); \
    return (can_fail) && due(fd) ? -1 : real(fd, what, more); \
  }
#define FAILS_FCNTL (what != F_SETLK || ((struct flock *)more)->l_type != F_UNLCK) /* No kernel fails to unlock. */
WITH_ONE_MORE(fcntl, int, FAILS_FCNTL) WITH_ONE_MORE(fcntl64, int, FAILS_FCNTL) WITH_ONE_MORE(ioctl, unsigned long, 1)

long syscall(long number, ...) {
  NEXT(syscall);
  long a[6];
  va_list given; va_start(given, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(given, long);
  va_end(given);
  return number == SYS_openat2 && due_path(a[0], (char *)a[1]) ? -1 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

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
