// Preloaded into a program (LD_PRELOAD), it makes one of the system calls that write an output file fail. Counted are
// calls on files that OutputFile opens (without a name, or named .bam-RANDOM.tmp), on the folder that it syncs, and
// those that ask about the file that is to be written.
//   FAULT_AT=N       the N-th of them (from 1), or `all`
//   FAULT_HOW=WHAT   ENOSPC, EIO, EDQUOT: the call fails so; short: it moves half of its bytes; kill: the process dies
//                    by SIGKILL instead of making it
//   FAULT_FILE=TEXT  files to be written are those with it in their path
//   FAULT_LOG=FILE   a line with the name of each is appended
//   FAULT_THREADS=1  no thread can be started, as at the limit of processes
//   FAULT_LOCKS=1    every file lock fails with ENOLCK, as on file systems without a lock service
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { kMostFiles = 1024 };
static char is_output[kMostFiles];
static long calls;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

enum how { pass, fail, half };

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int errno_named(const char* name) {
  if (strcmp(name, "EIO") == 0) return EIO;
  if (strcmp(name, "EDQUOT") == 0) return EDQUOT;
  return ENOSPC;
}

static void mark(int fd, int yes) {
  if (fd >= 0 && fd < kMostFiles) is_output[fd] = (char)yes;
}

static int marked(int fd) {
  return fd >= 0 && fd < kMostFiles && is_output[fd];
}

// What is to become of this call, which is counted.
static enum how meet(const char* name) {
  pthread_mutex_lock(&mutex);
  const long number = ++calls;
  const char* log = getenv("FAULT_LOG");
  if (log != NULL) {
    char line[32];
    const int length = snprintf(line, sizeof line, "%s\n", name);
    const int fd = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || REAL(write)(fd, line, (size_t)length) != length) abort();
    REAL(close)(fd);
  }
  pthread_mutex_unlock(&mutex);
  const char* at = getenv("FAULT_AT");
  const char* how = getenv("FAULT_HOW");
  if (at == NULL || how == NULL) return pass;
  if (strcmp(at, "all") != 0 && atol(at) != number) return pass;
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "short") == 0) return half;
  errno = errno_named(how);
  return fail;
}

static int opens_output(const char* path, int flags) {
  return (flags & O_TMPFILE) == O_TMPFILE || (flags & O_DIRECTORY) != 0 || strstr(path, "/.bam-") != NULL;
}

#define OPEN(function, mode_follows, ...)                       \
  const int counted = opens_output(path, flags);                \
  unsigned mode = 0;                                            \
  if (mode_follows) {                                           \
    va_list list;                                               \
    va_start(list, flags);                                      \
    mode = va_arg(list, unsigned);                              \
    va_end(list);                                               \
  }                                                             \
  if (counted && meet(#function) == fail) return -1;            \
  const int fd = REAL(function)(__VA_ARGS__ path, flags, mode); \
  mark(fd, counted);                                            \
  return fd;

#define WITH_MODE ((flags & (O_CREAT | O_TMPFILE)) != 0)

int open(const char* path, int flags, ...) {
  OPEN(open, WITH_MODE, )
}
int open64(const char* path, int flags, ...) {
  OPEN(open64, WITH_MODE, )
}
int openat(int at, const char* path, int flags, ...) {
  OPEN(openat, WITH_MODE, at, )
}

int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  if (getenv("FAULT_LOCKS") != NULL && (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK)) {
    errno = ENOLCK;
    return -1;
  }
  const int duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  if (duplicates && marked(fd) && meet("fcntl") == fail) return -1;
  const int result = REAL(fcntl)(fd, command, argument);
  if (duplicates) mark(result, marked(fd));
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  if (getenv("FAULT_THREADS") != NULL) return EAGAIN;
  return REAL(pthread_create)(thread, attributes, run, argument);
}

int flock(int fd, int operation) {
  if (getenv("FAULT_LOCKS") == NULL) return REAL(flock)(fd, operation);
  errno = ENOLCK;
  return -1;
}

#define TRANSFER(function, count, ...)        \
  if (marked(fd)) {                           \
    const enum how how = meet(#function);     \
    if (how == fail) return -1;               \
    if (how == half && count > 1) count /= 2; \
  }                                           \
  return REAL(function)(__VA_ARGS__);

ssize_t write(int fd, const void* bytes, size_t count){TRANSFER(write, count, fd, bytes, count)} ssize_t
    read(int fd, void* bytes, size_t count){TRANSFER(read, count, fd, bytes, count)} ssize_t
    pwrite(int fd, const void* bytes, size_t count, off_t at){TRANSFER(pwrite, count, fd, bytes, count, at)} ssize_t
    pwrite64(int fd, const void* bytes, size_t count,
             off64_t at){TRANSFER(pwrite64, count, fd, bytes, count, at)} ssize_t
    pread(int fd, void* bytes, size_t count, off_t at){TRANSFER(pread, count, fd, bytes, count, at)} ssize_t
    pread64(int fd, void* bytes, size_t count, off64_t at) {
  TRANSFER(pread64, count, fd, bytes, count, at)
}

#define ON_OUTPUT(function, ...)                        \
  if (marked(fd) && meet(#function) == fail) return -1; \
  return REAL(function)(__VA_ARGS__);

int fsync(int fd) {
  ON_OUTPUT(fsync, fd)
}
int fdatasync(int fd) {
  ON_OUTPUT(fdatasync, fd)
}
int ftruncate(int fd, off_t size) {
  ON_OUTPUT(ftruncate, fd, size)
}
int ftruncate64(int fd, off64_t size) {
  ON_OUTPUT(ftruncate64, fd, size)
}
int fchmod(int fd, mode_t mode){ON_OUTPUT(fchmod, fd, mode)} off_t
    lseek(int fd, off_t to, int whence){ON_OUTPUT(lseek, fd, to, whence)} off64_t
    lseek64(int fd, off64_t to, int whence) {
  ON_OUTPUT(lseek64, fd, to, whence)
}

// It closes without close(), and the next file may get the same number.
int closedir(DIR* folder) {
  mark(dirfd(folder), 0);
  return REAL(closedir)(folder);
}

// A close that fails has closed all the same.
int close(int fd) {
  const int counted = marked(fd);
  const int failed = counted && meet("close") == fail;
  const int error = errno;
  mark(fd, 0);
  const int result = REAL(close)(fd);
  if (!failed) return result;
  errno = error;
  return -1;
}

int linkat(int from_at, const char* from, int to_at, const char* to, int flags) {
  if (meet("linkat") == fail) return -1;
  return REAL(linkat)(from_at, from, to_at, to, flags);
}

int rename(const char* from, const char* to) {
  if (strstr(from, ".bam-") != NULL && meet("rename") == fail) return -1;
  return REAL(rename)(from, to);
}

int fstat(int fd, struct stat* status) {
  ON_OUTPUT(fstat, fd, status)
}

static int fails_about(const char* name, const char* path) {
  const char* file = getenv("FAULT_FILE");
  return file != NULL && strstr(path, file) != NULL && meet(name) == fail;
}

#define ABOUT_OUTPUT(function, failure, ...)        \
  if (fails_about(#function, path)) return failure; \
  return REAL(function)(__VA_ARGS__);

int stat(const char* path, struct stat* status) {
  ABOUT_OUTPUT(stat, -1, path, status)
}
int access(const char* path, int mode) {
  ABOUT_OUTPUT(access, -1, path, mode)
}
char* realpath(const char* path, char* resolved) {
  ABOUT_OUTPUT(realpath, NULL, path, resolved)
}
