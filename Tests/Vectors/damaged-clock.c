// SPDX-License-Identifier: Apache-2.0
//
// A library to preload. Its clock_gettime(2) fails or returns a time, as DAMAGED_CLOCK says: "fail", or seconds and
// nanoseconds. With "back", each time is a second before the one before it.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long taken = 1000000;

int clock_gettime(clockid_t clock, struct timespec *time) {
    const char *wanted = getenv("DAMAGED_CLOCK");
    long long seconds = 0, nanoseconds = 0;
    (void)clock;
    if (wanted && strcmp(wanted, "back") == 0) {
        *time = (struct timespec){.tv_sec = __atomic_sub_fetch(&taken, 1, __ATOMIC_RELAXED)};
        return 0;
    }
    if (!wanted || sscanf(wanted, "%lld %lld", &seconds, &nanoseconds) != 2) {
        errno = EINVAL;
        return -1;
    }
    *time = (struct timespec){.tv_sec = seconds, .tv_nsec = nanoseconds};
    return 0;
}
