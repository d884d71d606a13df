// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <FoundationCalls.h>

/// Defined above this module, if the program has LatchkeyService: receives a sentence about the first call of Foundation
/// that is not redirected, once a process.
extern void latchkey_log_foundation_call(const char *sentence) __attribute__((weak));

/// Defines `__wrap_SYMBOL` as the function `__real_SYMBOL`: with `--wrap=SYMBOL`, the linker calls Foundation's own
/// function. `binding` is the directive of the assembler for the binding of the new symbol, `before` what it does first.
#define LATCHKEY_PASS_ON(binding, symbol, before)                                                                      \
    ".section .text.__wrap_" symbol ", \"ax\", @progbits\n" binding " __wrap_" symbol "\n"                             \
    ".weak __real_" symbol "\n"                                                                                        \
    ".type __wrap_" symbol ", @function\n"                                                                             \
    "__wrap_" symbol ":\n.cfi_startproc\n" before LATCHKEY_JUMP " __real_" symbol LATCHKEY_JUMP_SUFFIX "\n"           \
    ".cfi_endproc\n.size __wrap_" symbol ", . - __wrap_" symbol "\n.text\n"

#if defined(__x86_64__)
#define LATCHKEY_JUMP "jmp"
#define LATCHKEY_JUMP_SUFFIX "@PLT"
#else
#define LATCHKEY_JUMP "b"
#define LATCHKEY_JUMP_SUFFIX ""
#endif
