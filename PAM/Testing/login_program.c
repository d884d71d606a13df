// SPDX-License-Identifier: Apache-2.0
//
// A login program for tests: login_program SERVICE USER SESSION-USER < PASSWORD. It has threads, a child and handlers
// of its own while the session begins, and prints their results.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALS = 5 };
static char password[256];
static volatile sig_atomic_t signals, ends;

static void count_signal(int number) {
    if (number == SIGCHLD)
        ends++;
    else
        signals++;
}

// A lock of the allocator is often held when the process is copied.
static void *allocate(void *unused) {
    for (;;) free(malloc(64));
    return unused;
}

static int answer(int count, const struct pam_message **messages, struct pam_response **responses, void *unused) {
    (void)unused;
    *responses = calloc((size_t)count, sizeof **responses);
    if (!*responses) return PAM_BUF_ERR;
    for (int i = 0; i < count; i++)
        if (messages[i]->msg_style == PAM_PROMPT_ECHO_OFF)
            (*responses)[i].resp = strdup(password);
        else
            printf("%s\n", messages[i]->msg);
    return PAM_SUCCESS;
}

// Signals the login program while it waits for the command, and ends. Such signals are queued, so that none is
// merged with another one.
static pid_t start_child(void) {
    pid_t child = fork();
    if (child != 0) return child;
    for (int i = 0; i < SIGNALS; i++) {
        usleep(50000);
        kill(getppid(), SIGRTMIN);
    }
    _exit(7);
}

int main(int count, char **words) {
    struct pam_conv conversation = {answer, NULL};
    struct sigaction action = {.sa_handler = count_signal};
    pam_handle_t *pam = NULL;
    pthread_t thread;
    if (count != 4 || !fgets(password, sizeof password, stdin)) return 2;
    password[strcspn(password, "\n")] = 0;
    if (pam_start(words[1], words[2], &conversation, &pam) != PAM_SUCCESS) return 2;
    int authentication = pam_authenticate(pam, 0);
    pam_set_item(pam, PAM_USER, words[3]);
    for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, allocate, NULL);
    sigaction(SIGRTMIN, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    pid_t child = start_child();
    int session = authentication == PAM_SUCCESS ? pam_open_session(pam, 0) : authentication;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    pid_t other = waitpid(-1, NULL, __WALL | WNOHANG);
    printf(
        "session %d, signals %d, ends %d, own child %d, others %s\n", session, (int)signals, (int)ends,
        WEXITSTATUS(status), other < 0 && errno == ECHILD ? "none" : "left");
    fflush(stdout);
    return pam_end(pam, session);
}
