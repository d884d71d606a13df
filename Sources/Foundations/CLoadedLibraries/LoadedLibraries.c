// SPDX-License-Identifier: Apache-2.0

// For RTLD_DEFAULT.
#define _GNU_SOURCE

#include "CLoadedLibraries.h"
#include "Functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A function of the executable jumps to the address in its slot: first to latchkey_first_call, and to that of the
// library once it is open. Its arguments are in registers and on the stack, and stay there.
#if defined(__x86_64__)
#define JUMP(name) \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n" \
            "    leaq latchkey_slot_" #name "(%rip), %r11\n    jmpq *(%r11)\n.size " #name ", . - " #name);
__asm__(".text\n.p2align 4\n.globl latchkey_first_call\n.hidden latchkey_first_call\n"
        ".type latchkey_first_call, @function\nlatchkey_first_call:\n"
        "    pushq %rax\n    pushq %rdi\n    pushq %rsi\n    pushq %rdx\n"
        "    pushq %rcx\n    pushq %r8\n    pushq %r9\n    pushq %r11\n"
        "    subq $136, %rsp\n"
        "    movups %xmm0, (%rsp)\n    movups %xmm1, 16(%rsp)\n    movups %xmm2, 32(%rsp)\n"
        "    movups %xmm3, 48(%rsp)\n    movups %xmm4, 64(%rsp)\n    movups %xmm5, 80(%rsp)\n"
        "    movups %xmm6, 96(%rsp)\n    movups %xmm7, 112(%rsp)\n"
        "    movq %r11, %rdi\n    callq latchkey_fill_slot\n"
        "    movups (%rsp), %xmm0\n    movups 16(%rsp), %xmm1\n    movups 32(%rsp), %xmm2\n"
        "    movups 48(%rsp), %xmm3\n    movups 64(%rsp), %xmm4\n    movups 80(%rsp), %xmm5\n"
        "    movups 96(%rsp), %xmm6\n    movups 112(%rsp), %xmm7\n"
        "    addq $136, %rsp\n"
        "    popq %r11\n    popq %r9\n    popq %r8\n    popq %rcx\n"
        "    popq %rdx\n    popq %rsi\n    popq %rdi\n    popq %rax\n"
        "    jmpq *(%r11)\n.size latchkey_first_call, . - latchkey_first_call");
#elif defined(__aarch64__)
#define JUMP(name) \
    __asm__(".text\n.p2align 2\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" \
            "    adrp x16, latchkey_slot_" #name "\n    add x16, x16, :lo12:latchkey_slot_" #name "\n" \
            "    ldr x17, [x16]\n    br x17\n.size " #name ", . - " #name);
__asm__(".text\n.p2align 2\n.globl latchkey_first_call\n.hidden latchkey_first_call\n"
        ".type latchkey_first_call, %function\nlatchkey_first_call:\n"
        "    stp x29, x30, [sp, #-224]!\n    mov x29, sp\n"
        "    stp x0, x1, [sp, #16]\n    stp x2, x3, [sp, #32]\n    stp x4, x5, [sp, #48]\n"
        "    stp x6, x7, [sp, #64]\n    stp x8, x16, [sp, #80]\n"
        "    stp q0, q1, [sp, #96]\n    stp q2, q3, [sp, #128]\n"
        "    stp q4, q5, [sp, #160]\n    stp q6, q7, [sp, #192]\n"
        "    mov x0, x16\n    bl latchkey_fill_slot\n"
        "    ldp q0, q1, [sp, #96]\n    ldp q2, q3, [sp, #128]\n"
        "    ldp q4, q5, [sp, #160]\n    ldp q6, q7, [sp, #192]\n"
        "    ldp x8, x16, [sp, #80]\n    ldp x6, x7, [sp, #64]\n"
        "    ldp x4, x5, [sp, #48]\n    ldp x2, x3, [sp, #32]\n    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #224\n"
        "    ldr x17, [x16]\n    br x17\n.size latchkey_first_call, . - latchkey_first_call");
#else
#error "the first call of a function is written for x86_64 and aarch64"
#endif

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN void latchkey_first_call(void);
HIDDEN void latchkey_fill_slot(void **slot) __attribute__((used));

#define SLOT(name) \
    HIDDEN void *latchkey_slot_##name = (void *)latchkey_first_call; \
    JUMP(name)
FIDO2_FUNCTIONS(SLOT)
ESYS_FUNCTIONS(SLOT)
MU_FUNCTIONS(SLOT)
SYSTEMD_FUNCTIONS(SLOT)

struct function {
    const char *name;
    void **slot;
};

struct library {
    const char *name;
    const struct function *functions;
    size_t count;
    void *handle;
};

#define ENTRY(name) {#name, &latchkey_slot_##name},
static const struct function fido2_functions[] = {FIDO2_FUNCTIONS(ENTRY)};
static const struct function esys_functions[] = {ESYS_FUNCTIONS(ENTRY)};
static const struct function mu_functions[] = {MU_FUNCTIONS(ENTRY)};
static const struct function systemd_functions[] = {SYSTEMD_FUNCTIONS(ENTRY)};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
static struct library fido2 = {"libfido2.so.1", fido2_functions, COUNT(fido2_functions), NULL};
static struct library esys = {"libtss2-esys.so.0", esys_functions, COUNT(esys_functions), NULL};
static struct library mu = {"libtss2-mu.so.0", mu_functions, COUNT(mu_functions), NULL};
static struct library systemd = {"libsystemd.so.0", systemd_functions, COUNT(systemd_functions), NULL};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char problem[256];

// A preloaded library replaces functions, as it would of a library that is linked.
static void *find(void *handle, const char *name) {
    void *preloaded = dlsym(RTLD_DEFAULT, name);
    return preloaded != NULL ? preloaded : dlsym(handle, name);
}

// Under the mutex. Fills the slots only if the library has every function.
static const char *load(struct library *library) {
    if (library->handle != NULL) { return NULL; }
    void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(problem, sizeof problem, "%s", reason ? reason : library->name);
        return problem;
    }
    for (size_t index = 0; index < library->count; index++) {
        if (find(handle, library->functions[index].name) == NULL) {
            snprintf(problem, sizeof problem, "%s has no function %s", library->name, library->functions[index].name);
            dlclose(handle);
            return problem;
        }
    }
    for (size_t index = 0; index < library->count; index++) {
        __atomic_store_n(
            library->functions[index].slot, find(handle, library->functions[index].name), __ATOMIC_RELEASE);
    }
    library->handle = handle;
    return NULL;
}

static const char *load_both(struct library *first, struct library *second) {
    pthread_mutex_lock(&mutex);
    const char *result = load(first);
    if (result == NULL && second != NULL) { result = load(second); }
    pthread_mutex_unlock(&mutex);
    return result;
}

const char *latchkey_load_fido2(void) { return load_both(&fido2, NULL); }

const char *latchkey_load_tss2(void) { return load_both(&esys, &mu); }

const char *latchkey_load_systemd(void) { return load_both(&systemd, NULL); }

static int has_slot(const struct library *library, void **slot) {
    for (size_t index = 0; index < library->count; index++) {
        if (library->functions[index].slot == slot) { return 1; }
    }
    return 0;
}

void latchkey_fill_slot(void **slot) {
    const char *result = has_slot(&fido2, slot) ? latchkey_load_fido2()
        : has_slot(&systemd, slot) ? latchkey_load_systemd() : latchkey_load_tss2();
    if (result == NULL) { return; }
    fprintf(stderr, "latchkey: %s\n", result);
    abort();
}
