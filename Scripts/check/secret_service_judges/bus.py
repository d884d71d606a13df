# SPDX-License-Identifier: Apache-2.0
"""A private session bus, and calls of the Secret Service without a library for it."""
import contextlib
import os
import subprocess

from jeepney import DBusAddress, MatchRule, MessageType, Properties, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from .processes import TIMEOUT, end

# Without directories of services: nothing else is started on this bus.
CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
SECRETS = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
LOGIN = f"{ROOT}/collection/login"


class PrivateBus:
    """A dbus-daemon for one world."""

    def __init__(self, directory):
        path = os.path.join(directory, "bus")
        configuration = os.path.join(directory, "bus.conf")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(path=path))
        self.log = open(os.path.join(directory, "bus.log"), "wb")
        self.process = subprocess.Popen(
            ["/usr/bin/dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile", "--nosyslog",
             "--print-address=1"],
            env={"PATH": "/usr/bin:/bin"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            start_new_session=True)
        # The address is printed when the bus listens.
        printed = self.process.stdout.readline().decode().strip()
        if not printed.startswith("unix:"):
            raise RuntimeError("dbus-daemon did not start")
        self.address = f"unix:path={path}"

    def stop(self):
        end(self.process)
        self.process.stdout.close()
        self.log.close()


class BusError(Exception):
    """An error that a call has returned."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name, self.text = name, text


class Connection:
    """A connection to a bus, with plain sessions of the Secret Service."""

    def __init__(self, address, **options):
        self.connection = open_dbus_connection(bus=address, **options)
        self._session = None

    def close(self):
        self.connection.close()

    # Calls

    def send(self, message, timeout=TIMEOUT):
        reply = self.connection.send_and_get_reply(message, timeout=timeout)
        if reply.header.message_type == MessageType.error:
            text = reply.body[0] if reply.body and isinstance(reply.body[0], str) else ""
            raise BusError(reply.header.fields.get(4, ""), text)
        return reply.body

    def call(self, path, interface, method, signature=None, arguments=(), name=SECRETS):
        address = DBusAddress(path, bus_name=name, interface=interface)
        return self.send(new_method_call(address, method, signature, arguments))

    def secret(self, path, interface, method, signature=None, arguments=()):
        return self.call(path, f"org.freedesktop.Secret.{interface}", method, signature, arguments)

    def get(self, path, interface, name):
        address = DBusAddress(path, bus_name=SECRETS, interface=f"org.freedesktop.Secret.{interface}")
        return self.send(Properties(address).get(name))[0][1]

    def error(self, *arguments):
        """The short name of the error of a call; None if it succeeds."""
        try:
            self.secret(*arguments)
            return None
        except BusError as error:
            return error.name.rsplit(".", 1)[-1]

    def owner(self, name):
        try:
            return self.send(message_bus.GetNameOwner(name))[0]
        except BusError:
            return None

    def wait_for_name(self, name, is_ended):
        """Waits until the name has an owner. `is_ended` tells whether the program that takes it has ended."""
        rule = MatchRule(
            type="signal", interface="org.freedesktop.DBus", member="NameOwnerChanged", sender="org.freedesktop.DBus")
        rule.add_arg_condition(0, name)
        with self.connection.filter(rule, bufsize=100) as queue:
            self.send(message_bus.AddMatch(rule))
            for _ in range(TIMEOUT * 4):
                if self.owner(name):
                    return True
                if is_ended():
                    return False
                try:
                    self.connection.recv_until_filtered(queue, timeout=0.25)
                except TimeoutError:
                    continue
        return False

    # The Secret Service

    @property
    def session(self):
        if not self._session:
            arguments = ("plain", ("s", ""))
            self._session = self.secret(ROOT, "Service", "OpenSession", "sv", arguments)[1]
        return self._session

    def search(self, **attributes):
        """The paths of the items: unlocked, locked."""
        return self.secret(ROOT, "Service", "SearchItems", "a{ss}", (attributes,))

    def items(self, collection=LOGIN):
        return self.get(collection, "Collection", "Items")

    def create(self, label, attributes, secret, replace=False, collection=LOGIN):
        properties = {
            "org.freedesktop.Secret.Item.Label": ("s", label),
            "org.freedesktop.Secret.Item.Attributes": ("a{ss}", attributes),
        }
        arguments = (properties, (self.session, b"", secret.encode(), "text/plain"), replace)
        return self.secret(collection, "Collection", "CreateItem", "a{sv}(oayays)b", arguments)

    def value(self, item):
        return self.secret(item, "Item", "GetSecret", "o", (self.session,))[0][2].decode()

    def lock(self, *paths):
        return self.secret(ROOT, "Service", "Lock", "ao", (list(paths),))

    def unlock(self, *paths):
        """The paths that are unlocked, and the prompt for the others."""
        return self.secret(ROOT, "Service", "Unlock", "ao", (list(paths),))

    def prompt(self, path):
        """Shows a prompt. The result is that of its end: ``completed``."""
        self.secret(path, "Prompt", "Prompt", "s", ("",))

    @contextlib.contextmanager
    def completions(self, path):
        """Receives the end of a prompt that is shown meanwhile."""
        rule = MatchRule(type="signal", interface="org.freedesktop.Secret.Prompt", member="Completed", path=path)
        self.send(message_bus.AddMatch(rule))
        with self.connection.filter(rule, bufsize=4) as queue:
            yield queue
        self.send(message_bus.RemoveMatch(rule))

    def completed(self, queue, timeout=60):
        """Waits for the end of a prompt: whether it was dismissed, and its value."""
        dismissed, value = self.connection.recv_until_filtered(queue, timeout=timeout).body
        return bool(dismissed), value[1]
