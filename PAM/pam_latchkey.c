// SPDX-License-Identifier: Apache-2.0
//
// A PAM module that unlocks the user's keychain at login. It passes the login password to the command
// `latchkey login-password` (run as the user), and never fails a login: Documentation/Login.md.

#define _GNU_SOURCE
#include "login_command.h"

#include <security/pam_ext.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define ENTRY __attribute__((visibility("default")))
#define UNUSED __attribute__((unused))

static const char STASH[] = "latchkey-login-password";
enum { MAX_USER = 256 };

// The password of a login between its authentication and its session.
struct stash {
    char user[MAX_USER];
    char password[MAX_WORD + 1];
};

// MARK: Messages to the user and the administrator

static void report(pam_handle_t *pam, int flags, int outcome, const char *name, const struct options *options) {
    const char *text = NULL;
    switch (outcome) {
    case DONE:
    case NOTHING_CHANGED:
    case STAYS_LOCKED_AS_REPORTED:
        return;
    case STAYS_LOCKED:
        text = "the keychain stays locked: its passcode is not the login password; latchkey unlock unlocks it";
        break;
    case NOT_CHANGED:
        text = "the passcode of the keychain was not changed with the password; latchkey passcode change changes it";
        break;
    case TIMED_OUT:
        return pam_syslog(
            pam, LOG_WARNING, "%s was ended after %jd s; the keychain of %s stays as it was", options->command,
            (intmax_t)options->timeout, name);
    default:
        return pam_syslog(
            pam, LOG_WARNING, "%s could not be run, or failed (%d); the keychain of %s stays as it was",
            options->command, outcome, name);
    }
    pam_syslog(pam, LOG_NOTICE, "user %s: %s", name, text);
    if (((unsigned)flags & PAM_SILENT) == 0) pam_info(pam, "Latchkey: %s", text);
}

static struct options parse(pam_handle_t *pam, int count, const char **words) {
    struct options options = {.command = "/usr/bin/latchkey", .timeout = 10};
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        if (strncmp(words[i], "command=/", 9) == 0) {
            options.command = words[i] + 8;
            continue;
        }
        long seconds = strncmp(words[i], "timeout=", 8) == 0 ? strtol(words[i] + 8, &end, 10) : 0;
        if (end && *end == 0 && seconds >= 1 && seconds <= 60)
            options.timeout = seconds;
        else
            pam_syslog(pam, LOG_ERR, "expected command=/PATH or timeout=1 to 60, found %s", words[i]);
    }
    return options;
}

// MARK: The stash

static void wipe(pam_handle_t *pam UNUSED, void *data, int status UNUSED) {
    if (!data) return;
    explicit_bzero(data, sizeof(struct stash));
    free(data);
}

static void keep(pam_handle_t *pam, const char *name, const char *password) {
    if (strlen(name) >= MAX_USER || strlen(password) > MAX_WORD) return;
    struct stash *stash = calloc(1, sizeof *stash);
    if (!stash) return;
    strcpy(stash->user, name);
    strcpy(stash->password, password);
    // Wipes an earlier one.
    if (pam_set_data(pam, STASH, stash, wipe) != PAM_SUCCESS) wipe(pam, stash, 0);
}

static const char *item(pam_handle_t *pam, int kind) {
    const void *value = NULL;
    return pam_get_item(pam, kind, &value) == PAM_SUCCESS ? value : NULL;
}

// Returns the stash if it is of the user who logs in now: sudo authenticates one, and begins the session of another.
static const struct stash *own_stash(pam_handle_t *pam, const char *name) {
    const void *data = NULL;
    if (pam_get_data(pam, STASH, &data) != PAM_SUCCESS || !data || !name) return NULL;
    return strcmp(((const struct stash *)data)->user, name) == 0 ? data : NULL;
}

// MARK: The entries

// Ignored, so that the module never lets a user in, wherever a configuration has it.
ENTRY int pam_sm_authenticate(pam_handle_t *pam, int flags UNUSED, int count UNUSED, const char **words UNUSED) {
    const char *name = item(pam, PAM_USER), *password = item(pam, PAM_AUTHTOK);
    if (name && password) keep(pam, name, password);
    return PAM_IGNORE;
}

ENTRY int pam_sm_setcred(pam_handle_t *pam UNUSED, int flags UNUSED, int count UNUSED, const char **words UNUSED) {
    return PAM_IGNORE;
}

ENTRY int pam_sm_open_session(pam_handle_t *pam, int flags, int count, const char **words) {
    const char *name = item(pam, PAM_USER);
    const struct stash *stash = own_stash(pam, name);
    if (stash) {
        struct options options = parse(pam, count, words);
        int outcome = run_login_command(pam, name, &options, "unlock", (const char *[]){stash->password}, 1);
        report(pam, flags, outcome, name, &options);
    }
    // Wipes it.
    pam_set_data(pam, STASH, NULL, NULL);
    return PAM_SUCCESS;
}

ENTRY int pam_sm_close_session(
    pam_handle_t *pam UNUSED, int flags UNUSED, int count UNUSED, const char **words UNUSED) {
    return PAM_SUCCESS;
}

ENTRY int pam_sm_chauthtok(pam_handle_t *pam, int flags, int count, const char **words) {
    const char *name = item(pam, PAM_USER), *old = item(pam, PAM_OLDAUTHTOK), *new = item(pam, PAM_AUTHTOK);
    // The administrator knows no old password, and the passcode stays.
    if (((unsigned)flags & PAM_UPDATE_AUTHTOK) == 0 || !name || !old || !new) return PAM_IGNORE;
    struct options options = parse(pam, count, words);
    int outcome = run_login_command(pam, name, &options, "change", (const char *[]){old, new}, 2);
    report(pam, flags, outcome, name, &options);
    // An expired password was changed before the session begins.
    if (outcome == DONE && own_stash(pam, name)) keep(pam, name, new);
    return PAM_IGNORE;
}
