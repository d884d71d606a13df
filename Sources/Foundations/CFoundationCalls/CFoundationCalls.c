// SPDX-License-Identifier: Apache-2.0

#include "CFoundationCalls.h"

// For each call of Foundation that LatchkeyRedirections redirects, three parts of this object:
//
// - Options for the linker, where Swift's driver looks for the libraries of a module: references to SYMBOL become ones to
//   `__wrap_SYMBOL`, which LatchkeyRedirections defines. A static library of Foundation is searched for SYMBOL as before.
// - A weak `__wrap_SYMBOL` that jumps to Foundation's function, for a program without LatchkeyRedirections. The first such
//   call of a process is logged.
// - A warning of the linker (gold, GNU ld) at each reference to this weak one, so that no call is unprotected in silence.
//
// It is assembly, because C has no directives for these sections.

// Whether a call was logged.
__attribute__((visibility("hidden"), used)) char latchkey_foundation_call_is_logged;

__attribute__((visibility("hidden"), used)) void latchkey_foundation_call_made(const char *sentence) {
    // First: the log may call Foundation.
    if (__atomic_test_and_set(&latchkey_foundation_call_is_logged, __ATOMIC_RELAXED)) return;
    if (latchkey_log_foundation_call) latchkey_log_foundation_call(sentence);
}

// The beginning of a function: calls `latchkey_foundation_call_made` unless a call was logged. All registers that may
// have arguments are kept; those of Swift (self, error, task) are kept by every function in C.
#if defined(__x86_64__)
#define LOG(sentence)                                                                                                  \
    "cmpb $0, latchkey_foundation_call_is_logged(%rip)\n"                                                              \
    "jne 2f\n"                                                                                                         \
    "pushq %rax\npushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\n"                               \
    ".cfi_adjust_cfa_offset 56\n"                                                                                      \
    "leaq 1f(%rip), %rdi\n"                                                                                            \
    "call latchkey_foundation_call_made\n"                                                                             \
    "popq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\npopq %rax\n"                                     \
    ".cfi_adjust_cfa_offset -56\n"                                                                                     \
    "2:\n" TEXT(sentence)
#else
#define LOG(sentence)                                                                                                  \
    "adrp x16, latchkey_foundation_call_is_logged\n"                                                                   \
    "ldrb w17, [x16, :lo12:latchkey_foundation_call_is_logged]\n"                                                      \
    "cbnz w17, 2f\n"                                                                                                   \
    "stp x29, x30, [sp, #-96]!\n"                                                                                      \
    ".cfi_def_cfa_offset 96\n.cfi_offset 29, -96\n.cfi_offset 30, -88\n"                                              \
    "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"  \
    "adrp x0, 1f\nadd x0, x0, :lo12:1f\n"                                                                             \
    "bl latchkey_foundation_call_made\n"                                                                               \
    "ldr x8, [sp, #80]\nldp x6, x7, [sp, #64]\nldp x4, x5, [sp, #48]\nldp x2, x3, [sp, #32]\nldp x0, x1, [sp, #16]\n"  \
    "ldp x29, x30, [sp], #96\n"                                                                                        \
    ".cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n"                                                       \
    "2:\n" TEXT(sentence)
#endif
#define TEXT(sentence) ".pushsection .rodata.str1.1, \"aMS\", @progbits, 1\n1: .asciz \"" sentence "\"\n.popsection\n"

#define OPTION(option, symbol) ".asciz \"-Xlinker\"\n.asciz \"" option symbol "\"\n"
#define OPTIONS(symbol)                                                                                                \
    ".section .swift1_autolink_entries, \"e\", @progbits\n" OPTION("--wrap=", symbol) OPTION("--undefined=", symbol)
#define WARNING(sentence, symbol)                                                                                      \
    ".section \".gnu.warning.__wrap_" symbol "\", \"\", @progbits\n.asciz \"" sentence "\"\n.text\n"
#define SENTENCE(effect, call) call LATCHKEY_EFFECT_##effect ": Documentation/Redirections.md"

#define CALL(effect, call, symbol) __asm__(OPTIONS(symbol) CALL_##effect(SENTENCE(effect, call), symbol));
#define CALL_PROTECTS(sentence, symbol) LATCHKEY_PASS_ON(".weak", symbol, LOG(sentence)) WARNING(sentence, symbol)
#define CALL_READS CALL_PROTECTS
#define CALL_CONNECTS CALL_PROTECTS
#define CALL_FINDS_CREDENTIALS CALL_PROTECTS
// The session may have a configuration of LatchkeyURLSession. One of Foundation was logged where it was made.
#define CALL_FOLLOWS(sentence, symbol) LATCHKEY_PASS_ON(".weak", symbol, "") WARNING(sentence, symbol)
// Nothing is lost without the redirection but a warning in the log.
#define CALL_WARNS_OF_SECRETS(sentence, symbol) LATCHKEY_PASS_ON(".weak", symbol, "")

LATCHKEY_FOUNDATION_CALLS(CALL)
