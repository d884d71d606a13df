# SPDX-License-Identifier: Apache-2.0
"""The lines and counts of a run."""
import sys


class Report:
    """Prints one line for each step, and counts them."""

    def __init__(self, is_latchkey, requires_all):
        self.is_latchkey = is_latchkey
        self.requires_all = requires_all
        self.passed = 0
        self.failures = []
        self.skipped = []
        self.suite = ""

    def check(self, step, found, expected, **others):
        """Compares the result of a client with the expected one. Where gnome-keyring is known to answer
        differently, `gnome_keyring` is its answer."""
        if not self.is_latchkey and "gnome_keyring" in others:
            expected = others["gnome_keyring"]
        if found == expected:
            return self.ok(step)
        return self.fail(step, f"expected {shortened(expected)}, found {shortened(found)}")

    def ok(self, step):
        self.passed += 1
        self._line("ok", f"{self.suite}: {step}")
        return True

    def fail(self, step, problem):
        self.failures.append(f"{self.suite}: {step}")
        self._line("FAILED", f"{self.suite}: {step}: {problem}")
        return False

    def skip(self, step, reason):
        """Names something that could not run because a program is absent."""
        if self.requires_all:
            return self.fail(step, reason)
        self.skipped.append(f"{self.suite}: {step}")
        self._line("skipped", f"{self.suite}: {step}: {reason}")
        return False

    def take(self, outcome, step):
        """Takes over the steps that a program has printed: `ok NAME`, `FAILED NAME: …` and, at its end, `end`."""
        lines = outcome.output.splitlines()
        for line in lines:
            kind, _, text = line.partition(" ")
            if kind == "ok":
                self.ok(f"{step}: {text}")
            elif kind == "FAILED":
                self.fail(f"{step}: {text}", "in its own program")
        if "end" not in lines:
            self.fail(f"{step}: ends", outcome.problem)

    def finish(self):
        """Prints the counts. Returns the exit value."""
        for failure in self.failures:
            self._line("FAILED", failure)
        print(f"{self.passed} ok, {len(self.failures)} failed, {len(self.skipped)} skipped", flush=True)
        if self.failures:
            return 1
        return 0 if self.passed else 77

    @staticmethod
    def _line(kind, text):
        print(f"{kind:8}{text}".encode("utf-8", "backslashreplace").decode(), flush=True)
        sys.stdout.flush()


def shortened(value):
    """The value for a line; the middle of a long one is left out."""
    text = repr(value)
    return text if len(text) <= 1000 else f"{text[:500]} … {text[-400:]} ({len(text)} characters)"
