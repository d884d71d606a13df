# SPDX-License-Identifier: Apache-2.0
"""Processes that the suites start, and end by their number."""
import os
import shutil
import signal
import subprocess
import time

# How long anything may take that does not wait for a person. It is only reached by a failure.
TIMEOUT = 120


class Outcome:
    """The result of a program: its exit value and its output."""

    def __init__(self, words, status, output, error):
        self.words, self.status = words, status
        self.output = output.decode("utf-8", "backslashreplace")
        self.error = error.decode("utf-8", "backslashreplace")

    @property
    def succeeded(self):
        return self.status == 0

    @property
    def problem(self):
        """The end of the program in one line."""
        text = " ".join((self.error or self.output).split())
        return f"{' '.join(self.words)[:200]}: exit {self.status}: {text[-500:]}"


def run(words, environment, text=None, timeout=TIMEOUT, directory=None):
    """Runs a program to its end. Its process group is ended after the timeout, with the exit value 124."""
    process = subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, cwd=directory)
    data = text.encode() if isinstance(text, str) else text or b""
    try:
        output, error = process.communicate(data, timeout=timeout)
        return Outcome(words, process.returncode, output, error)
    except subprocess.TimeoutExpired:
        end(process, signal.SIGKILL)
        output, error = process.communicate()
        return Outcome(words, 124, output, error + f"\nnot ended after {timeout} seconds".encode())


def end(process, number=signal.SIGTERM):
    """Ends a process that was started in a session of its own, with its children, and waits for it."""
    if not isinstance(process.poll(), int):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
    try:
        return process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait(TIMEOUT)


def eventually(condition, timeout=TIMEOUT):
    """Waits until the condition holds. Returns its value: false after the timeout."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(0.01)


def find(*names):
    """The path of the first of these programs that is installed; None if none is."""
    for name in names:
        path = name if os.path.isabs(name) else shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/libexec")
        if path and os.access(path, os.X_OK):
            return path
    return None
