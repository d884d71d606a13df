// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLatchkey.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static int argument_count;
static char **arguments;

// glibc passes main's arguments to the functions of .init_array.
__attribute__((constructor)) static void take_arguments(int count, char **words) {
    argument_count = count;
    arguments = words;
}

int latchkey_argument_count(void) {
    return argument_count;
}

const char *latchkey_argument(int index) {
    return index >= 0 && index < argument_count ? arguments[index] : NULL;
}

int latchkey_memfd_secret(void) {
    return (int)syscall(SYS_memfd_secret, O_CLOEXEC);
}

int latchkey_sealed_memory_file(const void *bytes, size_t length) {
    int file = memfd_create("latchkey", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    size_t written = 0;
    while (written < length) {
        ssize_t count = pwrite(file, (const uint8_t *)bytes + written, length - written, (off_t)written);
        if (count > 0) written += (size_t)count;
        else if (errno != EINTR) break;
    }
    int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (written == length && fcntl(file, F_ADD_SEALS, seals) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

int latchkey_clock_gettime(int clock, int64_t *seconds, int64_t *nanoseconds) {
    struct timespec time;
    if (syscall(SYS_clock_gettime, clock, &time) != 0) return -1;
    *seconds = time.tv_sec;
    *nanoseconds = time.tv_nsec;
    return 0;
}

int latchkey_getrandom(void *buffer, size_t length) {
    uint8_t *next = buffer;
    while (length > 0) {
        ssize_t got = getrandom(next, length, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        next += got;
        length -= (size_t)got;
    }
    return 0;
}

int latchkey_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int latchkey_crash_silently(void) {
    // The signals that the Swift runtime handles.
    static const int signals[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
        struct sigaction action;
        if (sigaction(signals[index], NULL, &action) != 0) return -1;
        if (!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN) continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = SIG_DFL;
        if (sigaction(signals[index], &action, NULL) != 0) return -1;
    }
    return 0;
}

int64_t latchkey_filesystem_type(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    return (int64_t)(uint32_t)info.f_type;
}

int latchkey_open(const char *path, int flags, mode_t mode) {
    return open(path, flags | O_CLOEXEC, mode);
}

pid_t latchkey_fork(void) {
    return fork();
}

int latchkey_at_fork(void (*prepare)(void), void (*finish)(void)) {
    return pthread_atfork(prepare, finish, finish);
}

int latchkey_send_descriptor(int socket, int descriptor, const void *bytes, size_t length) {
    char control[CMSG_SPACE(sizeof(int))];
    memset(control, 0, sizeof control);
    struct iovec part = {(void *)bytes, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    return (int)sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t latchkey_receive_descriptor(int socket, int *descriptor, void *bytes, size_t length) {
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {bytes, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    *descriptor = -1;
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count < 0) return count;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t given = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < given; index++) {
            int one;
            memcpy(&one, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
            // The buffer is for one descriptor. If its alignment left space for two, the others
            // must be closed.
            if (*descriptor < 0) *descriptor = one; else close(one);
        }
    }
    return count;
}

void latchkey_start_writing(int descriptor, int64_t offset, int64_t count) {
    sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

int latchkey_lock_file(int descriptor, int exclusive) {
    struct flock whole = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &whole);
}

int latchkey_is_file_locked(int descriptor) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_OFD_GETLK, &whole) != 0) return -1;
    return whole.l_type != F_UNLCK;
}

int latchkey_unlock_file(int descriptor) {
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &whole);
}

int latchkey_address(struct sockaddr_un *address, const char *path) {
    size_t length = strlen(path);
    if (length >= sizeof address->sun_path) { errno = ENAMETOOLONG; return -1; }
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}

int latchkey_peer(int socket, uint32_t *user, int32_t *process) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *user = credentials.uid;
    *process = credentials.pid;
    return 0;
}

int latchkey_accept(int socket) {
    return accept4(socket, NULL, NULL, SOCK_CLOEXEC);
}

int latchkey_event(void) {
    return eventfd(0, EFD_CLOEXEC);
}

int latchkey_boot_timer(void) {
    return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

int latchkey_set_boot_timer(int timer, uint64_t nanoseconds) {
    // A time of zero would disarm the timer.
    if (nanoseconds == 0) nanoseconds = 1;
    struct itimerspec time = {{0, 0}, {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

int latchkey_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

int latchkey_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

void latchkey_share_heaps(int count) {
    mallopt(M_ARENA_MAX, count);
}

const char *latchkey_environment(const char *name) {
    return secure_getenv(name);
}

ssize_t latchkey_list_attributes(int descriptor, char *names, size_t length) {
    return flistxattr(descriptor, names, length);
}

ssize_t latchkey_get_attribute(int descriptor, const char *name, void *value, size_t length) {
    return fgetxattr(descriptor, name, value, length);
}

int latchkey_set_attribute(int descriptor, const char *name, const void *value, size_t length) {
    return fsetxattr(descriptor, name, value, length, 0);
}

off_t latchkey_next_data(int descriptor, off_t offset) { return lseek(descriptor, offset, SEEK_DATA); }

off_t latchkey_next_hole(int descriptor, off_t offset) { return lseek(descriptor, offset, SEEK_HOLE); }

int latchkey_rename_new(int directory, const char *from, const char *to) {
    return renameat2(directory, from, directory, to, RENAME_NOREPLACE);
}

const LatchkeyFoundationCall *latchkey_foundation_call(size_t index) {
#define CALL(effect, name, symbol) {name, symbol, LATCHKEY_EFFECT_##effect},
    static const LatchkeyFoundationCall calls[] = {LATCHKEY_FOUNDATION_CALLS(CALL)};
#undef CALL
    return index < sizeof calls / sizeof *calls ? &calls[index] : NULL;
}
