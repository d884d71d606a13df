# SPDX-License-Identifier: Apache-2.0
"""The programs that store, read and delete passwords, each in its own words."""
import json
import os

from .processes import find, run

GENERIC, NETWORK, DOCKER = "generic", "network", "docker"


class Password:
    """One password, in the shape that a kind of client gives it."""

    def __init__(self, shape, host, user):
        self.shape, self.host, self.user = shape, host, user

    @property
    def url(self):
        return f"https://{self.host}/"

    @property
    def place(self):
        """The service or the server."""
        return self.url if self.shape == DOCKER else self.host

    @property
    def names(self):
        """The attributes that a client finds it by."""
        if self.shape == GENERIC:
            return {"service": self.host, "username": self.user}
        if self.shape == NETWORK:
            return {"protocol": "https", "server": self.host, "user": self.user}
        return {"docker_cli": "1", "server": self.url, "username": self.user}

    @property
    def map(self):
        """All attributes, as the client of this shape stores them."""
        if self.shape == GENERIC:
            # Without a schema: the service adds the generic one, gnome-keyring only later.
            others = {"application": "Python keyring library"}
        elif self.shape == NETWORK:
            others = {"xdg:schema": "org.gnome.keyring.NetworkPassword"}
        else:
            others = {"label": "Docker Credentials", "xdg:schema": "io.docker.Credentials"}
        return {**self.names, **others}


def words(attributes):
    return [word for name, value in sorted(attributes.items()) for word in (name, value)]


class Client:
    """A client in a world. `read` returns None for a password that it does not find."""

    name = ""
    # The shapes of passwords that it makes, the usual one first.
    makes = ()
    # The programs; one of them must be installed.
    programs = ()

    def __init__(self, world):
        self.world = world

    @classmethod
    def missing(cls, tools):
        return None if find(*cls.programs) else f"{cls.programs[0]} is not installed"

    def run(self, words, text=None, timeout=120):
        return run(words, self.world.environment, text, timeout)

    def must(self, words, text=None):
        outcome = self.run(words, text)
        if not outcome.succeeded:
            raise ClientError(outcome.problem)
        return outcome.output


class ClientError(Exception):
    """A client failed at its task."""


class SecretTool(Client):
    name = "secret-tool"
    makes = (GENERIC, NETWORK, DOCKER)
    programs = ("secret-tool",)

    def tool(self, command, *arguments, text=None, timeout=120):
        return self.run([find("secret-tool"), command, *arguments], text, timeout)

    def store(self, password, secret):
        self.must([find("secret-tool"), "store", f"--label={password.place}", *words(password.map)], secret)

    def read(self, password):
        outcome = self.tool("lookup", *words(password.names))
        return outcome.output if outcome.succeeded else None

    def delete(self, password):
        self.tool("clear", *words(password.names))


class GitCredential(Client):
    name = "git-credential-libsecret"
    makes = (NETWORK,)

    def __init__(self, world, tools):
        super().__init__(world)
        self.program = tools.git_credential

    @classmethod
    def missing(cls, tools):
        return None if tools.git_credential else tools.git_problem

    def helper(self, command, **fields):
        """The fields of the answer. The exit value tells nothing."""
        text = "".join(f"{name}={value}\n" for name, value in fields.items())
        output = self.run([self.program, command], text + "\n").output
        return dict(line.split("=", 1) for line in output.splitlines())

    def store(self, password, secret):
        self.must(
            [self.program, "store"],
            f"protocol=https\nhost={password.host}\nusername={password.user}\npassword={secret}\n\n")

    def read(self, password):
        answer = self.helper("get", protocol="https", host=password.host, username=password.user)
        return answer.get("password")

    def delete(self, password):
        self.helper("erase", protocol="https", host=password.host, username=password.user)


class DockerCredential(Client):
    name = "docker-credential-secretservice"
    makes = (DOCKER,)
    programs = ("docker-credential-secretservice",)

    def helper(self, command, text="", timeout=120):
        return self.run([find(*self.programs), command], text, timeout)

    def store(self, password, secret):
        entry = {"ServerURL": password.url, "Username": password.user, "Secret": secret}
        self.must([find(*self.programs), "store"], json.dumps(entry))

    def read(self, password):
        outcome = self.helper("get", password.url)
        if not outcome.succeeded:
            return None
        entry = json.loads(outcome.output)
        return entry["Secret"] if entry["Username"] == password.user else None

    def delete(self, password):
        self.helper("erase", password.url)


class PythonKeyring(Client):
    name = "Python keyring"
    makes = (GENERIC,)
    backend = "keyring.backends.SecretService.Keyring"

    def __init__(self, world, python="/usr/bin/python3", backend=None):
        super().__init__(world)
        self.python = python
        self.backend = backend or self.backend

    @classmethod
    def missing(cls, tools):
        return None if tools.has_module("/usr/bin/python3", "keyring") else "python3-keyring is not installed"

    def keyring(self, command, service, user, secret=None):
        program = os.path.join(os.path.dirname(__file__), "programs", "python_keyring.py")
        return self.run([self.python, program, self.backend, command, service, user], secret)

    def store(self, password, secret):
        outcome = self.keyring("set", password.place, password.user, secret)
        if not outcome.succeeded:
            raise ClientError(outcome.problem)

    def read(self, password):
        outcome = self.keyring("get", password.place, password.user)
        return outcome.output if outcome.succeeded else None

    def delete(self, password):
        self.keyring("delete", password.place, password.user)


class Security(Client):
    """macOS's command."""

    name = "security"
    makes = (GENERIC, NETWORK)

    @classmethod
    def missing(cls, tools):
        return None if tools.provider.is_latchkey else "gnome-keyring has no such command"

    def call(self, action, password, *options, text=None):
        kind = "internet" if password.shape == NETWORK else "generic"
        arguments = ["-s", password.place, "-a", password.user]
        if password.shape == NETWORK:
            arguments += ["-r", "htps"]
        # `security` is another name of `latchkey`, and has its commands as well.
        program = self.world.provider.path("latchkey")
        return self.run([program, f"{action}-{kind}-password", *arguments, *options], text)

    def store(self, password, secret):
        outcome = self.call("add", password, "-U", "-w", secret)
        if not outcome.succeeded:
            raise ClientError(outcome.problem)

    def read(self, password):
        outcome = self.call("find", password, "-w")
        return outcome.output.removesuffix("\n") if outcome.succeeded else None

    def delete(self, password):
        self.call("delete", password)


class SecItem(Client):
    """The calls of SecItem that `latchkey get`, `set` and `rm` make."""

    name = "SecItem"
    makes = (GENERIC, NETWORK)

    missing = Security.missing

    def call(self, command, password, *options, text=None):
        kind = ["--server", password.place, "--protocol", "https"] if password.shape == NETWORK else [
            "--service", password.place]
        program = self.world.provider.path("latchkey")
        return self.run([program, command, *kind, "--account", password.user, *options], text)

    def store(self, password, secret):
        outcome = self.call("set", password, "--update", text=secret)
        if not outcome.succeeded:
            raise ClientError(outcome.problem)

    def read(self, password):
        outcome = self.call("get", password)
        return outcome.output if outcome.succeeded else None

    def delete(self, password):
        self.call("rm", password, "--force")


# Of the table, in its order.
ALL = (SecItem, Security, SecretTool, PythonKeyring, GitCredential, DockerCredential)


def make(kind, world, tools):
    return kind(world, tools) if kind is GitCredential else kind(world)
