// SPDX-License-Identifier: Apache-2.0
//
// C functions that Swift cannot call: variadic ones, and those that the Glibc module does not
// export; and Unicode's tables. They contain no policy, and no state except the arguments of the process.

#ifndef CLATCHKEY_H
#define CLATCHKEY_H

#include <stddef.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "FoundationCalls.h"

/// memfd_secret(2): a descriptor. Neither another process nor the kernel can read its pages. -1 and errno if it is not
/// available.
int latchkey_memfd_secret(void);

/// memfd_create(2): a descriptor, at its start, of a file with these bytes that nothing can change. -1 and errno on failure.
int latchkey_sealed_memory_file(const void *bytes, size_t length);

/// getrandom(2) without flags, until `length` bytes are read. 0, or -1 and errno.
int latchkey_getrandom(void *buffer, size_t length);

/// clock_gettime(2) as a system call, without libc's function. 0, or -1 and errno.
int latchkey_clock_gettime(int clock, int64_t *seconds, int64_t *nanoseconds);

/// prctl(PR_SET_DUMPABLE, 0): no core dumps, no ptrace by processes of the same user. 0, or -1 and
/// errno.
int latchkey_forbid_dumps(void);

/// Restores the default action of the crash signals, except those that are ignored, because the
/// Swift runtime's handlers print a backtrace with the memory of the process. 0, or -1 and errno.
int latchkey_crash_silently(void);

/// The magic number of the file system that holds `path` (statfs(2) f_type), or -1 and errno.
int64_t latchkey_filesystem_type(const char *path);

/// open(2) with a mode; O_CLOEXEC is always added.
int latchkey_open(const char *path, int flags, mode_t mode);

/// pthread_atfork(3): `prepare` runs before every fork(2), `finish` after it in the parent and in
/// the child. 0, or an error number.
int latchkey_at_fork(void (*prepare)(void), void (*finish)(void));

/// Fills in the address of the socket at `path`. 0, or -1 and ENAMETOOLONG.
int latchkey_address(struct sockaddr_un *address, const char *path);

/// mallopt(M_ARENA_MAX): the number of heaps that the threads of the process share.
void latchkey_share_heaps(int count);

/// accept4(2), close-on-exec. A descriptor, or -1 and errno.
int latchkey_accept(int socket);

/// eventfd(2), close-on-exec. A descriptor, or -1 and errno.
int latchkey_event(void);

/// timerfd_create(2) with the clock of the boot, close-on-exec and non-blocking. A descriptor, or -1 and errno.
int latchkey_boot_timer(void);

/// timerfd_settime(2): the timer is readable from this time of the clock of the boot on. 0, or -1 and errno.
int latchkey_set_boot_timer(int timer, uint64_t nanoseconds);

/// pipe2(2), close-on-exec: fills in the descriptors of its two ends. 0, or -1 and errno.
int latchkey_pipe(int *reading, int *writing);

/// posix_spawn_file_actions_addclosefrom_np(3): closes the descriptors from `first` on in the child. 0, or an
/// error number.
int latchkey_close_from(posix_spawn_file_actions_t *actions, int first);

/// The user and the process at the other end of a connected socket (SO_PEERCRED). 0, or -1 and
/// errno.
int latchkey_peer(int socket, uint32_t *user, int32_t *process);

/// sendmsg(2) with `descriptor` attached to the bytes (SCM_RIGHTS). The number of bytes sent, or -1
/// and errno.
int latchkey_send_descriptor(int socket, int descriptor, const void *bytes, size_t length);

/// recvmsg(2). The number of bytes, or -1 and errno; `descriptor` is the first one that was
/// attached (close-on-exec), or -1. Other descriptors are closed.
ssize_t latchkey_receive_descriptor(int socket, int *descriptor, void *bytes, size_t length);

/// Starts to write a part of a file to the storage device, and does not wait for it (sync_file_range(2)). If a start
/// fails, the next fsync(2) writes the bytes.
void latchkey_start_writing(int descriptor, int64_t offset, int64_t count);

/// Locks the whole file, without waiting, until this open file description is closed (F_OFD_SETLK).
/// 0, or -1 and EAGAIN or EACCES.
int latchkey_lock_file(int descriptor, int exclusive);

/// Whether another open file locks any part of the file: 1, 0, or -1 with errno.
int latchkey_is_file_locked(int descriptor);

/// Releases the lock of latchkey_lock_file for every descriptor of this open file description. 0,
/// or -1 and errno.
int latchkey_unlock_file(int descriptor);

/// listxattr(2), getxattr(2) and setxattr(2) of an open file. The Glibc module does not have them.
ssize_t latchkey_list_attributes(int descriptor, char *names, size_t length);
ssize_t latchkey_get_attribute(int descriptor, const char *name, void *value, size_t length);
int latchkey_set_attribute(int descriptor, const char *name, const void *value, size_t length);

/// Where the next data, or the next hole, of an open file begins (lseek(2)); -1 with errno ENXIO at its end.
off_t latchkey_next_data(int descriptor, off_t offset);
off_t latchkey_next_hole(int descriptor, off_t offset);

/// renameat2(2) that does not replace a file.
int latchkey_rename_new(int directory, const char *from, const char *to);

/// secure_getenv(3): NULL also if the program has more privileges than the user who started it.
const char *latchkey_environment(const char *name);

/// The arguments of the process as the C library received them. The Swift runtime reads them from /proc, but /proc may
/// be missing.
int latchkey_argument_count(void);
const char *latchkey_argument(int index);

/// The compatibility decomposition of a scalar that is not a Hangul syllable (Unicode Standard Annex #15), in
/// canonical order. NULL and 0 if it is the scalar itself.
const uint32_t *latchkey_decomposition(uint32_t scalar, size_t *count);

/// The canonical combining class of a scalar.
uint8_t latchkey_combining_class(uint32_t scalar);

/// The scalar that two others are composed into, except Hangul. 0 if there is none.
uint32_t latchkey_composition(uint32_t first, uint32_t second);

/// Whether a scalar of the class 0 can be composed with the one before.
int latchkey_is_spacing_mark(uint32_t scalar);

/// fork(2). Swift marks it unavailable. Only for proofs.
pid_t latchkey_fork(void);

#endif
