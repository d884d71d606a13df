// SPDX-License-Identifier: Apache-2.0
//
// Part of libLatchkeySecurity.so. A program that contains Swift's standard libraries (--static-swift-stdlib) must not
// use the shared library, because this loads them a second time: with two Foundations, no dictionary of one is
// understood by the other, and each call would fail with errSecParam. Such a program is stopped when it starts.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const char runtime[] = "libswiftCore.so";
static const char own[] = "libLatchkeySecurity.so";
// EX_CONFIG of sysexits.h.
static const int wrong_pair = 78;

// Whether the runtime that this library calls is part of the program. The program's own name is empty.
static bool program_contains_runtime(void) {
    Dl_info info;
    struct link_map *object = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "swift_retain");
    return symbol && dladdr1(symbol, &info, (void **)&object, RTLD_DL_LINKMAP) && object && object->l_name[0] == '\0';
}

// Whether the program was linked with this library, and without the shared runtime.
static bool program_lacks_runtime(const struct link_map *program) {
    const char *names = NULL;
    for (const ElfW(Dyn) *entry = program->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) { names = (const char *)entry->d_un.d_ptr; }
    }
    if (!names) { return false; }
    bool needs_own = false, needs_runtime = false;
    for (const ElfW(Dyn) *entry = program->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED) { continue; }
        const char *name = names + entry->d_un.d_val;
        needs_own |= strncmp(name, own, sizeof own - 1) == 0;
        needs_runtime |= strncmp(name, runtime, sizeof runtime - 1) == 0;
    }
    return needs_own && !needs_runtime;
}

__attribute__((constructor)) static void require_one_runtime(void) {
    const struct link_map *program = _r_debug.r_map;
    if (!program_contains_runtime() && !(program && program_lacks_runtime(program))) { return; }
    static const char message[] =
        "libLatchkeySecurity.so: this program contains Swift's standard libraries (--static-swift-stdlib), and the shared "
        "library of the SDK needs the shared ones. Build it with the static library: --toolset …/latchkey-static.json, or "
        "--swift-sdk latchkey-static.\n";
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(wrong_pair);
}
