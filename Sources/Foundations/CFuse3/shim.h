// SPDX-License-Identifier: Apache-2.0

#ifndef CFUSE3_SHIM_H
#define CFUSE3_SHIM_H

#define FUSE_USE_VERSION 35

// The C library's types belong to Swift's module of it, and not to this one.
#pragma clang module import SwiftGlibc

#include <fuse3/fuse_lowlevel.h>
#include <sys/mount.h>

// Macros that Swift does not import, because they are casts or shifts.
static const unsigned CFUSE3_ASYNC_READ = FUSE_CAP_ASYNC_READ;
static const unsigned CFUSE3_ATOMIC_TRUNCATION = FUSE_CAP_ATOMIC_O_TRUNC;
static const unsigned CFUSE3_SPLICING = FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE;
static const unsigned CFUSE3_AUTOMATIC_INVALIDATION = FUSE_CAP_AUTO_INVAL_DATA;
static const unsigned CFUSE3_EXPLICIT_INVALIDATION = FUSE_CAP_EXPLICIT_INVAL_DATA;
static const unsigned CFUSE3_WRITEBACK_CACHE = FUSE_CAP_WRITEBACK_CACHE;
static const unsigned CFUSE3_READDIRPLUS = FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO;
static const unsigned CFUSE3_PARALLEL_DIRECTORY_OPERATIONS = FUSE_CAP_PARALLEL_DIROPS;

static const int CFUSE3_SET_MODE = FUSE_SET_ATTR_MODE;
static const int CFUSE3_SET_USER = FUSE_SET_ATTR_UID;
static const int CFUSE3_SET_GROUP = FUSE_SET_ATTR_GID;
static const int CFUSE3_SET_SIZE = FUSE_SET_ATTR_SIZE;
static const int CFUSE3_SET_ACCESS_TIME = FUSE_SET_ATTR_ATIME;
static const int CFUSE3_SET_MODIFICATION_TIME = FUSE_SET_ATTR_MTIME;
static const int CFUSE3_SET_ACCESS_TIME_NOW = FUSE_SET_ATTR_ATIME_NOW;
static const int CFUSE3_SET_MODIFICATION_TIME_NOW = FUSE_SET_ATTR_MTIME_NOW;

static const int CFUSE3_UNMOUNT_FORCE = MNT_FORCE;
static const int CFUSE3_UNMOUNT_DETACH = MNT_DETACH;
static const int CFUSE3_UNMOUNT_NO_FOLLOW = UMOUNT_NOFOLLOW;

/// Fills in the result of opening a file; the flags are bit fields.
static inline void CFuse3_set_opened(struct fuse_file_info *info, uint64_t handle, int keeps_cache, int skips_flush) {
    info->fh = handle;
    info->keep_cache = keeps_cache != 0;
    info->noflush = skips_flush != 0;
}

/// Creates a session with the options of a command line. Its first word is a program's name.
static inline struct fuse_session *CFuse3_session(
    int count, char **words, const struct fuse_lowlevel_ops *operations, void *context) {
    struct fuse_args arguments = FUSE_ARGS_INIT(count, words);
    struct fuse_session *session = fuse_session_new(&arguments, operations, sizeof(*operations), context);
    fuse_opt_free_args(&arguments);
    return session;
}

/// Declared by unistd.h for GNU's extensions only.
int syncfs(int descriptor);

#endif
