# SPDX-License-Identifier: Apache-2.0
"""The table: passwords of each client, read, changed and deleted through each of the others.

The items that a client can find depend on the attributes that it asks for. secret-tool, SecItem and `security` can name
every password here. Python keyring, git's helper and docker's helper ask for fixed attributes, and find items with
these: in their shape, made by any program. In the other cells they find nothing, and neither change nor delete the
item; they store an item of its own."""
from . import clients
from .clients import DOCKER, SecItem, Security
from .world import World

# They give attributes of SecItem, and not a map.
WITHOUT_MAP = (SecItem, Security)
# They can name each password that others have made.
FREE = (SecItem, Security, clients.SecretTool)
ACTIONS = ("read", "change", "delete")


def cells(kinds):
    """The cells of the table: the maker, the shape of its password, and the other client."""
    for maker in kinds:
        for shape in maker.makes:
            for other in kinds:
                if other is not maker:
                    yield maker, shape, other
    # A generic password with the address of a registry as its service: docker's helper asks for more than that, so it
    # does not find it, and changes it by storing the same service and account (SECS-8).
    for maker in kinds:
        if maker in WITHOUT_MAP and clients.DockerCredential in kinds:
            yield maker, DOCKER, clients.DockerCredential


def meets(maker, shape, other, action):
    """Whether the other client acts on the item of the maker."""
    if maker in WITHOUT_MAP and shape == DOCKER:
        return action == "change"
    return other in FREE or shape in other.makes


def run(context, report):
    """Runs every cell with both clients here."""
    kinds = []
    for kind in clients.ALL:
        missing = kind.missing(context.tools)
        if not missing:
            kinds.append(kind)
        elif context.provider.is_latchkey:
            report.skip(f"items of {kind.name}, and through it", missing)
    with World(context.provider) as world:
        table = Table(context, report, world, kinds)
        for maker, shape, other in cells(kinds):
            for action in ACTIONS:
                table.cell(maker, shape, other, action)
        table.two_maps()


class Table:
    """The cells in one world; each has a host of its own."""

    def __init__(self, context, report, world, kinds):
        self.report, self.world = report, world
        self.clients = {kind: clients.make(kind, world, context.tools) for kind in kinds}
        self.connection = world.connect()
        self.number = 0

    def cell(self, maker_kind, shape, other_kind, action):
        self.number += 1
        maker, other = self.clients[maker_kind], self.clients[other_kind]
        password = clients.Password(shape, f"host{self.number}.example.com", "alice")
        step = f"{maker.name}'s {shape} item, {action} through {other.name}"
        is_met = meets(maker_kind, shape, other_kind, action)
        try:
            found, expected = self.outcome(maker, password, other, action, is_met)
        except (clients.ClientError, ValueError) as error:
            return self.report.fail(step, str(error))
        return self.report.check(step if is_met else f"{step}: apart", found, expected)

    def outcome(self, maker, password, other, action, is_met):
        """The values that the two clients see afterwards, and the expected ones."""
        maker.store(password, "first")
        before = len(self.connection.items())
        if action == "read":
            return (other.read(password), maker.read(password)), ("first" if is_met else None, "first")
        if action == "change":
            other.store(password, "second")
            found = (maker.read(password), other.read(password), len(self.connection.items()) - before)
            return found, ("second" if is_met else "first", "second", 0 if is_met else 1)
        other.delete(password)
        found = (maker.read(password), len(self.connection.items()) - before)
        return found, (None, -1) if is_met else ("first", 0)

    def two_maps(self):
        """secret-tool's usual item has fewer attributes than the one of Python keyring: they are two (SECS-9)."""
        if clients.PythonKeyring not in self.clients or clients.SecretTool not in self.clients:
            return
        attributes = {"service": "two.example.com", "username": "alice"}
        tool, keyring = self.clients[clients.SecretTool], self.clients[clients.PythonKeyring]
        password = clients.Password(clients.GENERIC, "two.example.com", "alice")
        tool.tool("store", "--label=two", *clients.words(attributes), text="first")
        check = self.report.check
        check("secret-tool's item without an application, read through Python keyring", keyring.read(password), "first")
        keyring.store(password, "second")
        found = [path for paths in self.connection.search(**attributes) for path in paths]
        check("Python keyring stores another item beside it", len(found), 2)
        own = self.connection.search(application="Python keyring library", **attributes)[0]
        check("the item of Python keyring has its secret", [self.connection.value(path) for path in own], ["second"])
        tool.tool("store", "--label=two", *clients.words(attributes), text="third")
        values = sorted(self.connection.value(path) for path in found if self.exists(path))
        if self.world.provider.is_latchkey:
            return check("secret-tool replaces its own item, and not the other one", values, ["second", "third"])
        # gnome-keyring replaces any item that has all attributes of the new one.
        return check("secret-tool replaces one of them", "third" in values, True)

    def exists(self, path):
        return not self.connection.error(path, "Item", "GetSecret", "o", (self.connection.session,))
