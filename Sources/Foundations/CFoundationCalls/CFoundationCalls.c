// SPDX-License-Identifier: Apache-2.0

#include "CFoundationCalls.h"

// For each call of Foundation that LatchkeyRedirections redirects, three parts of this object:
//
// - Options for the linker, where Swift's driver looks for the libraries of a module: references to SYMBOL become ones to
//   `__wrap_SYMBOL`, which LatchkeyRedirections defines. A static library of Foundation is searched for SYMBOL as before.
// - A weak `__wrap_SYMBOL` that jumps to Foundation's function, for a program without LatchkeyRedirections.
// - A warning of the linker (gold, GNU ld) at each reference to this weak one, so that no call is unprotected in silence.
//
// It is assembly, because C has no directives for these sections.

#define PROTECTS " protects files only in a program with LatchkeyRedirections"
#define READS " reads protected files only in a program with LatchkeyRedirections"
#define CONNECTS " obeys App Transport Security and stored pins only in a program with LatchkeyRedirections"
#define FINDS_CREDENTIALS " finds credentials only in a program with LatchkeyRedirections"

#define OPTION(option, symbol) ".asciz \"-Xlinker\"\n.asciz \"" option symbol "\"\n"
#define OPTIONS(symbol)                                                                                                \
    ".section .swift1_autolink_entries, \"e\", @progbits\n" OPTION("--wrap=", symbol) OPTION("--undefined=", symbol)
#define WARNING(effect, call, symbol)                                                                                  \
    ".section \".gnu.warning.__wrap_" symbol "\", \"\", @progbits\n"                                                  \
    ".asciz \"" call effect ": Documentation/Redirections.md\"\n.text\n"

#define CALL(effect, call, symbol)                                                                                     \
    __asm__(OPTIONS(symbol) LATCHKEY_PASS_ON(".weak", symbol) CALL_##effect(call, symbol));
#define CALL_PROTECTS(call, symbol) WARNING(PROTECTS, call, symbol)
#define CALL_READS(call, symbol) WARNING(READS, call, symbol)
#define CALL_CONNECTS(call, symbol) WARNING(CONNECTS, call, symbol)
#define CALL_FINDS_CREDENTIALS(call, symbol) WARNING(FINDS_CREDENTIALS, call, symbol)
// Nothing is lost without the redirection but a warning in the log.
#define CALL_WARNS_OF_SECRETS(call, symbol) ""

LATCHKEY_FOUNDATION_CALLS(CALL)
