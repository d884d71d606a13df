# SPDX-License-Identifier: Apache-2.0
"""The service with a passcode: its answers while it is locked, and the prompts that unlock it."""
import threading

from . import clients
from .bus import LOGIN, ROOT
from .clients import GENERIC, DockerCredential, GitCredential, Password, PythonKeyring, SecretTool
from .person import CANCEL, WAIT, Later, Prompter, Terminal
from .processes import eventually, find, run
from .provider import PASSCODE
from .world import World

# Longer than a client waits for the answer of a call.
LONG = 27


def passcode(context, report):
    people = [Prompter]
    if context.provider.is_latchkey:
        for kind in ["pinentry-curses", "pinentry-tty"]:
            if find(kind):
                people.append(lambda kind=kind: Terminal(kind))
            else:
                report.skip(kind, f"{kind} is not installed")
    for make in people:
        person = make()
        try:
            with World(
                context.provider, has_passcode=True, terminal=person.device, environment=person.environment
            ) as world:
                person.attend(world)
                Passcode(context, report, world, person).run()
        finally:
            person.close()


class Passcode:
    """The steps with one kind of person."""

    def __init__(self, context, report, world, person):
        self.context, self.report, self.world, self.person = context, report, world, person
        self.connection = world.connect()
        self.item = None

    def check(self, step, found, expected, **others):
        return self.report.check(f"{self.person.kind}: {step}", found, expected, **others)

    def run(self):
        self.store()
        self.lock()
        self.answers_while_locked()
        self.prompts()
        self.dismissals()
        self.clients_unlock()
        self.clients_are_refused()
        self.waits()
        if self.world.provider.is_latchkey:
            self.other_doors()
        self.restart()

    # The state

    def store(self):
        tool = SecretTool(self.world)
        tool.tool("store", "--label=mail", "a", "1", text="s3cret")
        self.item = self.connection.search(a="1")[0][0]
        self.check("an unlocked item needs no prompt", self.connection.unlock(self.item), ([self.item], "/"))

    def is_locked(self):
        return bool(self.connection.get(LOGIN, "Collection", "Locked"))

    def lock(self):
        """Locks, as the client secret-tool does; version 0.20 fails after that, with any provider."""
        if not self.is_locked():
            outcome = SecretTool(self.world).tool("lock")
            if not self.is_locked():
                raise clients.ClientError(outcome.problem)

    def unlock(self, *answers, paths=None):
        """Unlocks by a prompt. Returns its result."""
        self.lock()
        self.person.will(*answers)
        unlocked, prompt = self.connection.unlock(*(paths or [self.item]))
        if unlocked or prompt == "/":
            return unlocked, prompt
        with self.connection.completions(prompt) as queue:
            self.connection.prompt(prompt)
            return self.connection.completed(queue)

    # The steps

    def answers_while_locked(self):
        connection, item = self.connection, self.item
        self.check("secret-tool lock locks the collection", self.is_locked(), True)
        self.check("a locked item is found as locked", connection.search(a="1"), ([], [item]))
        self.check("by another value it is not found", connection.search(a="2"), ([], []))
        found = connection.secret(LOGIN, "Collection", "SearchItems", "a{ss}", ({"a": "1"},))[0]
        self.check("the collection finds it", found, [item])
        self.check("it is in the list of items", connection.items(), [item])
        self.check("it is locked", bool(connection.get(item, "Item", "Locked")), True)
        self.check("the label of the collection", connection.get(LOGIN, "Collection", "Label"), "Login")
        self.check("its label is shown", connection.get(item, "Item", "Label"), "mail")
        names = set(connection.get(item, "Item", "Attributes")) - {"xdg:schema"}
        self.check("its attributes are shown", names, {"a"})
        session = connection.session
        self.check("GetSecret", connection.error(item, "Item", "GetSecret", "o", (session,)), "IsLocked")
        found = connection.secret(ROOT, "Service", "GetSecrets", "aoo", ([item], session))[0]
        self.check("GetSecrets leaves it out", found, {})
        secret = (session, b"", b"x", "text/plain")
        self.check("SetSecret", connection.error(item, "Item", "SetSecret", "(oayays)", (secret,)), "IsLocked")
        self.check("Delete", connection.error(item, "Item", "Delete"), "IsLocked")
        for step, replace in [("CreateItem", False), ("CreateItem with replace", True)]:
            arguments = ({"org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"a": "1"})}, secret, replace)
            error = connection.error(LOGIN, "Collection", "CreateItem", "a{sv}(oayays)b", arguments)
            self.check(step, error, "IsLocked")
        self.check("nothing is asked for that", self.person.questions, [])

    def prompts(self):
        item, asked = self.item, lambda: len(self.person.questions)
        self.check("the passcode unlocks an item", (self.unlock(PASSCODE), asked()), ((False, [item]), 1))
        self.check("the secret can be read", self.connection.value(item), "s3cret")
        self.check("the collection is unlocked", self.is_locked(), False)
        result = self.unlock(PASSCODE, paths=[LOGIN])
        self.check("the passcode unlocks the collection", (result, asked()), ((False, [LOGIN]), 1))
        result = self.unlock("wrong", PASSCODE)
        self.check("after a wrong passcode it is asked again", (result, asked()), ((False, [item]), 2))
        if self.world.provider.is_latchkey:
            result = self.unlock("wrong", "wrong", "wrong", PASSCODE)
            self.check("three wrong ones end the prompt", (result, asked()), ((True, []), 3))

    def dismissals(self):
        connection, person, item = self.connection, self.person, self.item
        self.check("a cancelled prompt is dismissed", self.unlock(CANCEL), (True, []))
        self.check("it is locked still", self.is_locked(), True)
        person.will(WAIT)
        prompt = connection.unlock(item)[1]
        with connection.completions(prompt) as queue:
            # gnome-keyring ends at the dismissal of a prompt that is shown.
            if self.world.provider.is_latchkey:
                connection.prompt(prompt)
                self.check("a prompt is shown", person.is_asked(), True)
            connection.secret(prompt, "Prompt", "Dismiss")
            self.check("Dismiss ends it", connection.completed(queue), (True, []))
        self.check("the question is withdrawn", person.is_left_alone(), True)
        # gnome-keyring keeps the prompt of a program that has ended, and shows no other one.
        if self.world.provider.is_latchkey:
            person.will(WAIT)
            other = self.world.connect()
            other.prompt(other.unlock(item)[1])
            self.check("another program asks", person.is_asked(), True)
            self.world.connections.remove(other)
            other.close()
            self.check("its end withdraws the question", person.is_left_alone(), True)
        self.check("the next question is answered", self.unlock(PASSCODE), (False, [item]))
        if not person.device:
            return
        self.unlock(CANCEL)
        self.unlock(CANCEL)
        self.check("after two refusals, pinentry asks no more for a while", self.unlock(PASSCODE), (True, []))
        self.check("nothing is shown then", person.questions, [])
        self.unlock_again()
        self.check("later it asks again", self.is_locked(), False)

    def unlock_again(self):
        """Unlocks, if need be after the time when pinentry does not ask."""
        eventually(lambda: not self.is_locked() or self.unlock(PASSCODE)[0] is False, 60)

    # Clients

    def clients(self):
        """The calls of each client with its own password."""
        for kind in [SecretTool, PythonKeyring, GitCredential, DockerCredential]:
            missing = kind.missing(self.context.tools)
            if missing:
                self.report.skip(f"{self.person.kind}: {kind.name}", missing)
            else:
                client = clients.make(kind, self.world, self.context.tools)
                yield client, Password(kind.makes[0], f"{kind.__name__.lower()}.example.com", "alice")

    def clients_unlock(self):
        def asked(step, body, expected):
            self.lock()
            self.person.will(PASSCODE)
            self.check(f"{step}, after the prompt", (body(), len(self.person.questions)), (expected, 1))

        for client, password in self.clients():
            asked(f"{client.name} stores", lambda: client.store(password, "new"), None)
            asked(f"{client.name} reads", lambda: client.read(password), "new")
            self.check(f"{client.name} reads again", client.read(password), "new")
        tool = SecretTool(self.world)
        asked("secret-tool search --all --unlock", lambda: "secret = s3cret" in tool.tool(
            "search", "--all", "--unlock", "a", "1").output, True)
        self.lock()
        self.person.will()
        found = tool.tool("search", "--all", "a", "1")
        self.check("secret-tool search shows no secret while it is locked", "s3cret" in found.output, False)
        self.check("and asks for nothing", self.person.questions, [])
        for client, password in self.clients():
            self.lock()
            self.person.will(PASSCODE)
            client.delete(password)
            # libsecret deletes no locked item, and does not ask for the passcode; Python keyring does.
            found = client.read(password)
            if not found:
                found = client.read(password)
            is_deleted = isinstance(client, PythonKeyring)
            self.check(f"{client.name} deletes", found, None if is_deleted else "new")

    def clients_are_refused(self):
        self.unlock(PASSCODE)
        for client, password in self.clients():
            client.store(password, "old")
        for client, password in self.clients():
            self.lock()
            self.person.will()
            self.check(f"{client.name} reads nothing after a cancelled prompt", client.read(password), None)
            self.lock()
            self.person.will()
            try:
                client.store(password, "changed")
                outcome = "stored"
            except clients.ClientError:
                outcome = "refused"
            self.check(f"{client.name} stores nothing then", outcome, "refused")
        self.unlock_again()
        for client, password in self.clients():
            self.check(f"{client.name} finds the old password", client.read(password), "old")

    # Time

    def waits(self):
        self.lock()
        self.person.will(Later(LONG, PASSCODE))
        tool = SecretTool(self.world)
        found = tool.tool("lookup", "a", "1")
        self.check(f"secret-tool waits {LONG} seconds for the person", found.output, "s3cret")
        self.lock()
        self.person.will(WAIT)
        connection = self.connection
        prompt = connection.unlock(self.item)[1]
        with connection.completions(prompt) as queue:
            connection.prompt(prompt)
            self.check("while a prompt is open", self.person.is_asked(), True)
            self.check("searches are answered", connection.search(a="1"), ([], [self.item]))
            outcomes = []
            threads = [threading.Thread(target=lambda: outcomes.append(tool.tool("search", "a", "1").status))
                       for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.check("other programs are answered", outcomes, [0] * 4)
            if self.context.options.slow and self.world.provider.is_latchkey:
                completed = connection.completed(queue, timeout=660)
                self.check("a prompt ends after ten minutes", completed, (True, []))
            elif self.world.provider.is_latchkey:
                connection.secret(prompt, "Prompt", "Dismiss")
                connection.completed(queue)
            else:
                return
        self.check("the question has ended", self.person.is_left_alone(), True)

    # Other ways to lock and unlock

    def other_doors(self):
        latchkey = self.world.provider.path("latchkey")

        def call(*words):
            return run([latchkey, *words], self.world.environment)

        if not self.world.provider.has_daemon:
            return
        self.unlock(PASSCODE)
        self.check("latchkey lock", call("lock", "--now").status, 0)
        self.check("the collection is locked by it", self.is_locked(), True)
        self.check("a locked item is found then", self.connection.search(a="1"), ([], [self.item]))
        password = Password(GENERIC, "nowhere.example.com", "alice")
        security = clients.Security(self.world)
        self.check("security fails while it is locked", security.call("add", password, "-w", "x").status, 36)
        self.check("latchkey unlock", call("unlock", "--passcode-file", self.world.path("passcode")).status, 0)
        self.person.will()
        self.check("secret-tool needs no prompt then", SecretTool(self.world).tool("lookup", "a", "1").output, "s3cret")
        self.check("nothing was asked", self.person.questions, [])

    def restart(self):
        self.person.close()
        self.person = Prompter()
        self.world.terminal = None
        self.world.restart(is_locked=True)
        self.person.attend(self.world)
        self.connection = self.world.connect()
        self.check("after a restart it is locked", self.is_locked(), True)
        self.check("a locked item is found", self.connection.search(a="1"), ([], [self.item]))
        self.person.will(PASSCODE)
        found = SecretTool(self.world).tool("lookup", "a", "1")
        self.check("it is read after the prompt", (found.output, len(self.person.questions)), ("s3cret", 1))
        self.person.close()
