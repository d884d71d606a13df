# SPDX-License-Identifier: Apache-2.0
"""Private directories, a private bus and a provider, for one suite."""
import os
import shutil
import subprocess
import tempfile

from .bus import SECRETS, Connection, PrivateBus
from .processes import end


class World:
    """Ends everything that it has started, and removes its files, when it is left.

    - `has_passcode`: whether the keychain has the passcode `PASSCODE`; gnome-keyring always has one.
    - `environment`: more variables.
    - `terminal`: a descriptor of the terminal where a person is asked."""

    def __init__(self, provider, has_passcode=False, terminal=None, is_locked=False, environment=None):
        self.provider, self.has_passcode, self.terminal, self.is_locked = provider, has_passcode, terminal, is_locked
        self.variables = environment or {}
        self.directory = tempfile.mkdtemp(prefix="secrets-")
        for name in ["home", "run", "tmp"]:
            os.mkdir(self.path(name), 0o700)
        self.bus = None
        self.processes, self.logs, self.connections = [], [], []

    def __enter__(self):
        try:
            self.start_bus()
            self.provider.prepare(self, self.has_passcode)
            self.start_provider(self.is_locked)
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.stop_provider()
        if self.bus:
            self.bus.stop()
        for log in self.logs:
            log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    # Files

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        descriptor = os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def log(self, name):
        """The end of a program's output."""
        with open(self.path(f"{name}.log"), "rb") as file:
            return file.read()[-2000:].decode("utf-8", "backslashreplace")

    @property
    def environment(self):
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm",
            "SWIFT_BACKTRACE": "enable=no",
            "HOME": self.path("home"), "XDG_RUNTIME_DIR": self.path("run"), "TMPDIR": self.path("tmp"),
            "DBUS_SESSION_BUS_ADDRESS": self.bus.address, **self.variables,
        }

    # Processes

    def spawn(self, words, log, environment=None, **options):
        """Starts a program that ends with the world, and writes to a log."""
        file = open(self.path(f"{log}.log"), "ab")
        self.logs.append(file)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(
            words, env={**self.environment, **(environment or {})}, stdout=file, stderr=file, start_new_session=True,
            **options)

    def start_bus(self):
        self.bus = PrivateBus(self.directory)

    def start_provider(self, is_locked=False):
        self.processes = self.provider.start(self, self.terminal, is_locked)
        connection = self.connect()
        if not connection.wait_for_name(SECRETS, lambda: self.processes[-1].poll() is not None):
            raise RuntimeError(f"{self.provider.name} did not take the name: {self.log('provider')}")

    def stop_provider(self):
        for connection in self.connections:
            connection.close()
        self.connections = []
        for process in reversed(self.processes):
            end(process)
        self.processes = []

    def restart(self, is_locked=False):
        """Ends the provider, and with it its daemon and its bus, and starts them again on the same files."""
        self.stop_provider()
        self.bus.stop()
        self.start_bus()
        self.start_provider(is_locked)

    def connect(self, **options):
        connection = Connection(self.bus.address, **options)
        self.connections.append(connection)
        return connection
