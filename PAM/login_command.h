// SPDX-License-Identifier: Apache-2.0
//
// Runs `latchkey login-password` as a user, from inside a login program.

#ifndef LATCHKEY_LOGIN_COMMAND_H
#define LATCHKEY_LOGIN_COMMAND_H

#include <security/pam_modules.h>
#include <time.h>

// The longest word, in bytes.
enum { MAX_WORD = 1024 };

// The exit values of the command. LoginOutcome.swift has the same numbers.
enum { DONE = 0, NOTHING_CHANGED = 10, STAYS_LOCKED = 11, STAYS_LOCKED_AS_REPORTED = 12, NOT_CHANGED = 13 };
// The exit values that this module adds.
enum { TIMED_OUT = 124, NOT_STARTED = 127 };

struct options {
    const char *command;
    time_t timeout;
};

// Returns the exit value of `latchkey login-password VERB`, run as the user with this name. It gets the words by
// a pipe, and is ended after the timeout.
int run_login_command(
    pam_handle_t *pam, const char *name, const struct options *options, char *verb, const char *const words[],
    int count);

#endif
