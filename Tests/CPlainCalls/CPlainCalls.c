// SPDX-License-Identifier: Apache-2.0

#include "CPlainCalls.h"

#include <CFoundationCalls.h>

// The tests call Foundation itself: these take the place of the weak functions, which have warnings.
#define CALL(effect, call, symbol) __asm__(LATCHKEY_PASS_ON(".globl", symbol, ""));
LATCHKEY_FOUNDATION_CALLS(CALL)
