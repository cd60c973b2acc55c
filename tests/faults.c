/* A library to preload that looks at each system call that changes a file under one folder.

   It counts them, fails one or all from one on with an error, and writes a trace from which a test makes what a disk
   holds after a power cut. The trace has one record per call: a letter, the length of the path, the offset, the length
   of the data, the path and the data.

       W write   T truncate (to the offset)   S fsync   C create   U unlink   R rename (the data are the new path)
*/

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long calls, fail_at = -1;
static int fail_errno, sticky, trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* For the test: watch a folder; the trace is a descriptor or -1, and the call to fail is counted from 0. */
void faults_watch(const char *path, int trace_to, long at, int error, int all_after)
{
    snprintf(folder, sizeof folder, "%s", path);
    trace = trace_to;
    fail_at = at;
    fail_errno = error;
    sticky = all_after;
    calls = 0;
}

long faults_calls(void) { return calls; }

static int watched(const char *path) { return folder[0] && !strncmp(path, folder, strlen(folder)); }

static int path_of(int fd, char *path)
{
    char link[64];
    ssize_t n;
    if (!folder[0] || fd == trace)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, PATH_MAX - 1);
    if (n < 0)
        return 0;
    path[n] = 0;
    return watched(path);
}

/* Count a call; whether it fails. What succeeds is traced by `traced`, after it was done. */
static int fails(void)
{
    long n;
    pthread_mutex_lock(&lock);
    n = calls++;
    pthread_mutex_unlock(&lock);
    if (fail_at >= 0 && (n == fail_at || (sticky && n > fail_at))) {
        errno = fail_errno;
        return 1;
    }
    return 0;
}

static void traced(char kind, const char *path, int64_t offset, const void *data, int64_t size)
{
    struct { char kind, pad[7]; int64_t path, offset, size; } head = {kind, {0}, (int64_t)strlen(path), offset, size};
    int saved = errno;
    if (trace < 0)
        return;
    pthread_mutex_lock(&lock);
    if (REAL(write)(trace, &head, sizeof head) < 0 || REAL(write)(trace, path, head.path) < 0 ||
        (size && REAL(write)(trace, data, size) < 0))
        abort();
    pthread_mutex_unlock(&lock);
    errno = saved;
}

#define OPEN(name, at_declared, at_given)                                                                    \
    int name(at_declared const char *path, int flags, ...)                                                   \
    {                                                                                                        \
        mode_t mode = 0;                                                                                     \
        int fd, new, mine = watched(path) && (flags & (O_CREAT | O_TRUNC));                                  \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                 \
            va_list rest;                                                                                    \
            va_start(rest, flags);                                                                           \
            mode = va_arg(rest, mode_t);                                                                     \
            va_end(rest);                                                                                    \
        }                                                                                                    \
        if (!mine)                                                                                           \
            return REAL(name)(at_given path, flags, mode);                                                   \
        new = access(path, F_OK);                                                                            \
        if ((new || (flags & O_TRUNC)) && fails())                                                           \
            return -1;                                                                                       \
        fd = REAL(name)(at_given path, flags, mode);                                                         \
        if (fd >= 0 && new)                                                                                  \
            traced('C', path, 0, 0, 0);                                                                      \
        else if (fd >= 0 && (flags & O_TRUNC))                                                               \
            traced('T', path, 0, 0, 0);                                                                      \
        return fd;                                                                                           \
    }
#define COMMA ,
OPEN(open, , )
OPEN(open64, , )
OPEN(openat, int at COMMA, at COMMA)
OPEN(openat64, int at COMMA, at COMMA)

ssize_t write(int fd, const void *data, size_t size)
{
    char path[PATH_MAX];
    off_t offset;
    ssize_t n;
    if (!path_of(fd, path))
        return REAL(write)(fd, data, size);
    if (fails())
        return -1;
    offset = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
    n = REAL(write)(fd, data, size);
    if (n > 0)
        traced('W', path, offset, data, n);
    return n;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    char path[PATH_MAX];
    ssize_t total = 0, n;
    if (!path_of(fd, path))
        return REAL(writev)(fd, parts, count);
    for (int k = 0; k < count; k++) {
        n = write(fd, parts[k].iov_base, parts[k].iov_len);
        if (n < 0)
            return total ? total : n;
        total += n;
        if ((size_t)n < parts[k].iov_len)
            break;
    }
    return total;
}

#define PWRITE(name, kind)                                                                                   \
    ssize_t name(int fd, const void *data, size_t size, kind offset)                                         \
    {                                                                                                        \
        char path[PATH_MAX];                                                                                 \
        ssize_t n;                                                                                           \
        if (!path_of(fd, path))                                                                              \
            return REAL(name)(fd, data, size, offset);                                                       \
        if (fails())                                                                                         \
            return -1;                                                                                       \
        n = REAL(name)(fd, data, size, offset);                                                              \
        if (n > 0)                                                                                           \
            traced('W', path, offset, data, n);                                                              \
        return n;                                                                                            \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, kind)                                                                                 \
    int name(int fd, kind size)                                                                              \
    {                                                                                                        \
        char path[PATH_MAX];                                                                                 \
        int result;                                                                                          \
        if (!path_of(fd, path))                                                                              \
            return REAL(name)(fd, size);                                                                     \
        if (fails())                                                                                         \
            return -1;                                                                                       \
        result = REAL(name)(fd, size);                                                                       \
        if (!result)                                                                                         \
            traced('T', path, size, 0, 0);                                                                   \
        return result;                                                                                       \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                                                                           \
    int name(int fd)                                                                                         \
    {                                                                                                        \
        char path[PATH_MAX];                                                                                 \
        if (!path_of(fd, path))                                                                              \
            return REAL(name)(fd);                                                                           \
        if (fails())                                                                                         \
            return -1;                                                                                       \
        traced('S', path, 0, 0, 0); /* the disk itself need not be waited for */                             \
        return 0;                                                                                            \
    }
SYNC(fsync)
SYNC(fdatasync)

int chmod(const char *path, mode_t mode)
{
    if (watched(path) && fails())
        return -1;
    return REAL(chmod)(path, mode);
}

int unlink(const char *path)
{
    int result;
    if (!watched(path))
        return REAL(unlink)(path);
    if (fails())
        return -1;
    result = REAL(unlink)(path);
    if (!result)
        traced('U', path, 0, 0, 0);
    return result;
}

int rename(const char *path, const char *to)
{
    int result;
    if (!watched(to))
        return REAL(rename)(path, to);
    if (fails())
        return -1;
    result = REAL(rename)(path, to);
    if (!result)
        traced('R', path, 0, to, strlen(to));
    return result;
}
