// The C library, as far as ReprisePlatform calls it. Field names and widths are Darwin's.
#pragma once
#include "Attributes.h"

typedef unsigned long size_t;
typedef long ssize_t;
typedef long time_t;
typedef long long off_t;
typedef int pid_t;
typedef unsigned short mode_t;
typedef unsigned int uid_t;

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6 } clockid_t;
int clock_gettime(clockid_t clock, struct timespec *time);
time_t time(time_t *time);

struct stat {
    int st_dev;
    mode_t st_mode;
    unsigned short st_nlink;
    unsigned long long st_ino;
    uid_t st_uid;
    unsigned int st_gid;
    int st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size;
    long long st_blocks;
    int st_blksize;
    unsigned int st_flags, st_gen;
};
#define AT_FDCWD -2
int fclonefileat(int source, int directory, const char *path, unsigned int flags);
int stat(const char *path, struct stat *status);
int fstat(int descriptor, struct stat *status);

struct statvfs {
    unsigned long f_bsize, f_frsize;
    unsigned int f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail;
    unsigned long f_fsid, f_flag, f_namemax;
};
int statvfs(const char *path, struct statvfs *status);

struct dirent {
    unsigned long long d_ino, d_seekoff;
    unsigned short d_reclen, d_namlen;
    unsigned char d_type;
    char d_name[1024];
};
typedef struct {
    int __dd_fd;
} DIR;
DIR *opendir(const char *path);
struct dirent *readdir(DIR *stream);
int closedir(DIR *stream);

int close(int descriptor);
ssize_t read(int descriptor, void *bytes, size_t count);
ssize_t write(int descriptor, const void *bytes, size_t count);
ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset);
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset);
int ftruncate(int descriptor, off_t size);
int fsync(int descriptor);
int unlink(const char *path);
int link(const char *path, const char *name);
int rmdir(const char *path);
int mkdir(const char *path, mode_t mode);
int rename(const char *from, const char *to);
char *getcwd(char *buffer, size_t size);

struct flock {
    off_t l_start, l_len;
    pid_t l_pid;
    short l_type, l_whence;
};
int flock(int descriptor, int operation);
#define LOCK_SH 0x01
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08

typedef struct fpunchhole {
    unsigned int fp_flags, reserved;
    off_t fp_offset, fp_length;
} fpunchhole_t;
#define F_GETFD 1
#define F_SETFD 2
#define F_FULLFSYNC 51
#define F_BARRIERFSYNC 85
#define F_PUNCHHOLE 99

#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_APPEND 0x00000008
#define O_CREAT 0x00000200
#define O_TRUNC 0x00000400
#define O_EXCL 0x00000800
#define O_CLOEXEC 0x01000000
#define O_NONBLOCK 0x00000004

#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EADDRINUSE 48
#define EADDRNOTAVAIL 49
#define ENETDOWN 50
#define ENETUNREACH 51
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define EHOSTDOWN 64
#define EHOSTUNREACH 65
#define ENOTEMPTY 66
#define EDQUOT 69
#define ENOSYS 78

#define TCP_NOTSENT_LOWAT 0x201

typedef unsigned long long rlim_t;
struct linger {
    int l_onoff;
    int l_linger;
};

struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
int getrlimit(int resource, struct rlimit *limit);
int setrlimit(int resource, const struct rlimit *limit);
#define RLIMIT_NOFILE 8
#define OPEN_MAX 10240

typedef struct __sFILE FILE;
int fflush(FILE *file);
char *strerror(int code);
int memcmp(const void *left, const void *right, size_t count);
char *getenv(const char *name);
pid_t getpid(void);
int kill(pid_t process, int signal);
int isatty(int descriptor);
struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
void free(void *memory);

typedef struct {
    long __sig;
    char __opaque[56];
} pthread_mutex_t;
typedef struct {
    long __sig;
    char __opaque[8];
} pthread_mutexattr_t;
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
