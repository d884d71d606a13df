# SPDX-License-Identifier: Apache-2.0
"""The programs that provide the Secret Service: Latchkey's, and gnome-keyring as the reference."""
import os
import subprocess

from .bus import SECRETS
from .processes import find, run

# The passcode of every keychain here that has one, and the password of gnome-keyring.
PASSCODE = "correct horse 1234"


class GnomeKeyring:
    """gnome-keyring-daemon with the keyring `login`, unlocked at the start."""

    name = "gnome-keyring"
    is_latchkey = False
    portal = ("gnome-keyring", SECRETS)

    def __init__(self, binaries):
        self.program = find("gnome-keyring-daemon")

    @property
    def missing(self):
        return None if self.program else "gnome-keyring-daemon is not installed"

    def prepare(self, world, has_passcode):
        """Nothing: the keyring is created at the first start, and always has a password."""

    def start(self, world, terminal, is_locked):
        words = [self.program, "--foreground", "--components=secrets"]
        if not is_locked:
            words.append("--unlock")
        process = world.spawn(words, "provider", stdin=subprocess.PIPE)
        process.stdin.write(b"" if is_locked else PASSCODE.encode())
        process.stdin.close()
        return [process]


class Latchkey:
    """latchkey-secret-service with latchkeyd, or without it."""

    name = "latchkey"
    is_latchkey = True
    portal = ("latchkey", "org.freedesktop.impl.portal.desktop.latchkey")

    def __init__(self, binaries, has_daemon=True):
        self.binaries, self.has_daemon = binaries, has_daemon

    @property
    def missing(self):
        for name in ["latchkey", "latchkeyd", "latchkey-secret-service"]:
            if not os.access(self.path(name), os.X_OK):
                return f"{self.path(name)} is not an executable"
        return None

    def path(self, name):
        return os.path.join(self.binaries, name)

    def prepare(self, world, has_passcode):
        if not has_passcode:
            return
        file = world.write("passcode", PASSCODE + "\n")
        outcome = run([self.path("latchkey"), "passcode", "set", "--passcode-file", file], world.environment)
        if not outcome.succeeded:
            raise RuntimeError(outcome.problem)

    def start(self, world, terminal, is_locked):
        processes = []
        if self.has_daemon:
            processes.append(self._start_daemon(world))
            if not is_locked and os.path.exists(world.path("passcode")):
                words = [self.path("latchkey"), "unlock", "--passcode-file", world.path("passcode")]
                outcome = run(words, world.environment)
                if not outcome.succeeded:
                    raise RuntimeError(outcome.problem)
        words = [self.path("latchkey-secret-service"), "--log-level", "info"]
        # On its terminal, if it has one, the service asks with pinentry.
        service = world.spawn(words, "provider", stdin=terminal or subprocess.DEVNULL)
        return processes + [service]

    def _start_daemon(self, world):
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        words = [self.path("latchkeyd"), "--user", "--ready-descriptor", str(writing)]
        daemon = world.spawn(words, "latchkeyd", pass_fds=[writing])
        os.close(writing)
        # It writes when it listens; at its end there is nothing to read.
        with os.fdopen(reading, "rb") as pipe:
            if not pipe.read(1):
                raise RuntimeError(f"latchkeyd did not start: {world.log('latchkeyd')}")
        return daemon


def make(name, binaries, has_daemon):
    return GnomeKeyring(binaries) if name == "gnome-keyring" else Latchkey(binaries, has_daemon)
