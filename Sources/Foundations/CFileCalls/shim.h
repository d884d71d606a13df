// SPDX-License-Identifier: Apache-2.0
//
// System calls and constants that Swift's Glibc module does not have, because they are variadic or
// need GNU's extensions.

#ifndef CFILECALLS_SHIM_H
#define CFILECALLS_SHIM_H

// The C library's types belong to Swift's module of it, and not to this one.
#pragma clang module import SwiftGlibc

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>

static const int CFILECALLS_PATH_ONLY = __O_PATH;
static const unsigned CFILECALLS_NO_REPLACE = 1; // RENAME_NOREPLACE
static const unsigned CFILECALLS_EXCHANGE = 2;   // RENAME_EXCHANGE
static const int CFILECALLS_EMPTY_PATH = 0x1000; // AT_EMPTY_PATH
static const long CFILECALLS_TIME_NOW = UTIME_NOW;
static const long CFILECALLS_TIME_OMIT = UTIME_OMIT;

/// openat(2) with a mode; O_CLOEXEC and O_NOFOLLOW are always added.
static inline int CFileCalls_open(int directory, const char *name, int flags, mode_t mode) {
    return openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
}

/// Declared by stdio.h for GNU's extensions only.
int renameat2(int directory, const char *name, int new_directory, const char *new_name, unsigned flags);

/// Declared by unistd.h for GNU's extensions only.
int syncfs(int descriptor);

#endif
