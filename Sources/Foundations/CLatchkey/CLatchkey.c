// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLatchkey.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int latchkey_memfd_secret(void) {
    return (int)syscall(SYS_memfd_secret, O_CLOEXEC);
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

int latchkey_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
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

int latchkey_sqlite_defend(void *connection) {
    return sqlite3_db_config((sqlite3 *)connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

int latchkey_at_fork(void (*prepare)(void), void (*finish)(void)) {
    return pthread_atfork(prepare, finish, finish);
}
