// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "login_command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <security/pam_modutil.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_GROUPS = 65536, MAX_ENVIRONMENT = 12 };

// The data for the processes of a run. The processes are copies of a program that may have other threads, so they call
// nothing that takes a lock: everything is prepared before.
struct run {
    const char *command;
    char *arguments[4];
    char *environment[MAX_ENVIRONMENT + 1];
    time_t timeout;
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    int group_count;
    int input;
};

// MARK: The processes

// The system calls, because the functions of libc would wait for threads that a copy does not have.
static int become_user(const struct run *run) {
    if (geteuid() != 0) return getuid() == run->uid && geteuid() == run->uid ? 0 : -1;
    if (syscall(SYS_setgroups, (size_t)run->group_count, run->groups) != 0) return -1;
    if (syscall(SYS_setresgid, run->gid, run->gid, run->gid) != 0) return -1;
    if (syscall(SYS_setresuid, run->uid, run->uid, run->uid) != 0) return -1;
    return getuid() == run->uid && geteuid() == run->uid && getegid() == run->gid ? 0 : -1;
}

// Unlike fork, without the program's handlers of a fork. The parent gets `signal` at the end of the process; 0 for
// none, as long as the process executes no other program.
static pid_t copy_process(unsigned long signal) {
#if defined(__s390__)
    return (pid_t)syscall(SYS_clone, 0, signal, 0, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, signal, 0, 0, 0, 0);
#endif
}

static void use_own_descriptors(int input) {
    // In this order, it may be one of the three itself, if the program has closed that.
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || dup2(input, 0) < 0) _exit(NOT_STARTED);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0) return;
#endif
    for (long last = sysconf(_SC_OPEN_MAX), i = 3; i < (last < 0 ? 1024 : last); i++) close((int)i);
}

// The process that starts the command, and ends it if it takes too long, with the processes that the command has
// started, unless they have made a group of their own as latchkeyd does. It is a child of the program, but sends it no
// SIGCHLD, and the program's own waiting for children does not find it.
static _Noreturn void supervise(const struct run *run) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t child_signal, none;
    sigemptyset(&none);
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &child_signal, NULL) != 0 || setsid() < 0 || chdir("/") != 0) _exit(NOT_STARTED);
    umask(077);
    use_own_descriptors(run->input);
    pid_t child = copy_process(SIGCHLD);
    if (child < 0) _exit(NOT_STARTED);
    if (child == 0) {
        if (setpgid(0, 0) == 0 && sigprocmask(SIG_SETMASK, &none, NULL) == 0 && become_user(run) == 0)
            execve(run->command, run->arguments, run->environment);
        _exit(NOT_STARTED);
    }
    // The first of the two makes the group; the other one finds it, or the program that runs in it.
    setpgid(child, child);
    close(0);
    int status = 0;
    sigtimedwait(&child_signal, NULL, &(struct timespec){.tv_sec = run->timeout});
    if (waitpid(child, &status, WNOHANG) == child) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128);
    kill(-child, SIGKILL);
    // A process that a file system holds ends later; then it is init's.
    sigtimedwait(&child_signal, NULL, &(struct timespec){.tv_sec = 1});
    waitpid(child, &status, WNOHANG);
    _exit(TIMED_OUT);
}

// Returns the exit value of the command.
static int execute(const struct run *run) {
    sigset_t all, before;
    sigfillset(&all);
    // No handler of the program runs in the copy.
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return NOT_STARTED;
    pid_t supervisor = copy_process(0);
    if (supervisor == 0) supervise(run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    int status = 0;
    pid_t ended = supervisor;
    if (supervisor > 0)
        while ((ended = waitpid(supervisor, &status, __WALL)) < 0 && errno == EINTR) {}
    return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_STARTED;
}

// MARK: The data of a run

// Returns the end to read from of a pipe that contains the words, each after its length; -1 for none.
static int pipe_of_words(const char *const words[], int count) {
    unsigned char bytes[2 * (4 + MAX_WORD)];
    size_t size = 0;
    int ends[2] = {-1, -1}, input = -1;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        if (length > MAX_WORD) goto end;
        for (int shift = 24; shift >= 0; shift -= 8) bytes[size++] = (unsigned char)(length >> shift);
        memcpy(bytes + size, words[i], length);
        size += length;
    }
    // An empty pipe takes a page at once; there is a reader, this process.
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) goto end;
    if (write(ends[1], bytes, size) != (ssize_t)size || fcntl(ends[0], F_SETFL, 0) != 0) goto end;
    input = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
end:
    explicit_bzero(bytes, sizeof bytes);
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
    return input;
}

static int add_variable(struct run *run, const char *name, const char *value) {
    int count = 0;
    while (run->environment[count]) count++;
    if (!value || count == MAX_ENVIRONMENT) return 0;
    return asprintf(&run->environment[count], "%s=%s", name, value) < 0 ? (run->environment[count] = NULL, -1) : 0;
}

static int add_runtime_directory(struct run *run, const char *known) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/run/user/%ju", (uintmax_t)run->uid);
    int exists = lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == run->uid;
    return add_variable(run, "XDG_RUNTIME_DIR", known ? known : exists ? path : NULL);
}

static int set_environment(pam_handle_t *pam, struct run *run, const struct passwd *user) {
    static const char *const places[] = {"XDG_DATA_HOME", "XDG_STATE_HOME", "LATCHKEY_HOME"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (add_variable(run, places[i], pam_getenv(pam, places[i])) != 0) return -1;
    return add_variable(run, "PATH", "/usr/local/bin:/usr/bin:/bin") || add_variable(run, "HOME", user->pw_dir)
                || add_variable(run, "USER", user->pw_name) || add_variable(run, "LOGNAME", user->pw_name)
                || add_runtime_directory(run, pam_getenv(pam, "XDG_RUNTIME_DIR"))
            ? -1
            : 0;
}

static int set_groups(struct run *run, const struct passwd *user) {
    for (int room = 32; room <= MAX_GROUPS; room *= 4) {
        gid_t *groups = reallocarray(run->groups, (size_t)room, sizeof *groups);
        if (!groups) return -1;
        run->groups = groups;
        run->group_count = room;
        if (getgrouplist(user->pw_name, user->pw_gid, groups, &run->group_count) >= 0) return 0;
    }
    return -1;
}

// Returns the exit value of `latchkey login-password VERB`, run as the user.
int run_login_command(
    pam_handle_t *pam, const char *name, const struct options *options, char *verb, const char *const words[],
    int count) {
    struct passwd *user = pam_modutil_getpwnam(pam, name);
    struct run run = {
        .command = options->command, .arguments = {"latchkey", "login-password", verb}, .timeout = options->timeout,
        .input = -1};
    int outcome = NOT_STARTED;
    if (user) {
        run.uid = user->pw_uid;
        run.gid = user->pw_gid;
        if (set_groups(&run, user) == 0 && set_environment(pam, &run, user) == 0)
            run.input = pipe_of_words(words, count);
        if (run.input >= 0) outcome = execute(&run);
    }
    if (run.input >= 0) close(run.input);
    for (char **variable = run.environment; *variable; variable++) free(*variable);
    free(run.groups);
    return outcome;
}
