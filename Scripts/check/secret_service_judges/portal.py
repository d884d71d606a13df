# SPDX-License-Identifier: Apache-2.0
"""The secrets of applications in sandboxes, through the real xdg-desktop-portal."""
import os
import sys

from .clients import SecretTool
from .person import CANCEL, Prompter
from .processes import end, find, run
from .provider import PASSCODE
from .world import World

PORTAL = "/usr/libexec/xdg-desktop-portal"


def missing(tools):
    if not find(PORTAL):
        return "xdg-desktop-portal is not installed"
    return None if find("bwrap") else "bubblewrap is not installed"


class Portal:
    """xdg-desktop-portal with the provider as its only backend, and applications that ask it."""

    def __init__(self, world):
        self.world = world
        name, self.backend = world.provider.portal
        directory = world.path("portals")
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, f"{name}.portal"), "w", encoding="utf-8") as file:
            file.write(f"[portal]\nDBusName={self.backend}\n")
            file.write("Interfaces=org.freedesktop.impl.portal.Secret;\nUseIn=clients\n")
        # Newer versions choose the backend in this file.
        with open(os.path.join(directory, "clients-portals.conf"), "w", encoding="utf-8") as file:
            file.write(f"[preferred]\ndefault={name}\n")
        environment = {"XDG_DESKTOP_PORTAL_DIR": directory, "XDG_CURRENT_DESKTOP": "clients"}
        self.process = world.spawn([PORTAL, "-v", "-r"], "portal", environment)
        connection = world.connect()
        if not connection.wait_for_name("org.freedesktop.portal.Desktop", lambda: self.process.poll() is not None):
            raise RuntimeError(f"xdg-desktop-portal did not start: {world.log('portal')}")

    def stop(self):
        end(self.process)

    def command(self, application, words):
        """The command that runs a program as an application in a sandbox; as a program of the host for None."""
        if not application:
            return words
        information = self.world.write(
            f"{application}.info", f"[Application]\nname={application}\n[Instance]\ninstance-id=1\n")
        own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
        # A root directory of its own: the file is not created in that of the machine.
        return [
            find("bwrap"), "--tmpfs", "/", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink",
            "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev", "--bind",
            self.world.directory, self.world.directory, "--ro-bind", own, own, "--ro-bind", information,
            "/.flatpak-info", *words]

    def retrieve(self, application, token="request"):
        """The response of the portal, and the secret in hexadecimal digits."""
        program = os.path.join(os.path.dirname(__file__), "programs", "portal_client.py")
        outcome = run(self.command(application, [sys.executable, "-B", program, token]), self.world.environment)
        if not outcome.succeeded:
            return "failed", outcome.problem
        response, _, secret = outcome.output.strip().partition(" ")
        return int(response), secret


def portal(context, report):
    with World(context.provider) as world:
        steps(world, report)
    # gnome-keyring answers an application also while it is locked, without a prompt.
    if not context.provider.is_latchkey:
        return
    person = Prompter()
    try:
        with World(context.provider, has_passcode=True) as world:
            person.attend(world)
            locked(world, report, person)
    finally:
        person.close()


def steps(world, report):
    check = report.check
    portal = Portal(world)
    response, first = portal.retrieve("org.example.One")
    check("an application gets 64 bytes", (response, len(first)), (0, 128))
    check("the same ones again", portal.retrieve("org.example.One"), (0, first))
    response, second = portal.retrieve("org.example.Two")
    check("another application gets others", (response, len(second), second != first), (0, 128, True))
    response, host = portal.retrieve(None)
    check("a program outside of sandboxes gets others", (response, len(host), host in (first, second)), (0, 128, False))
    # libsecret uses the portal in a sandbox, and keeps its items in a file that is encrypted with the secret. Its store
    # can hang with any backend, so it is tried again.
    tool = [find("secret-tool")]
    environment = {**world.environment, "SNAP_NAME": "example"}

    def sandboxed(words, text=None):
        for _ in range(3):
            outcome = run(tool + words, environment, text, timeout=10)
            if outcome.status != 124:
                break
        return outcome

    stored = sandboxed(["store", "--label=a", "in", "sandbox"], "s3cret")
    check("libsecret stores with the secret of the portal", (stored.status, stored.error), (0, ""))
    check("libsecret finds it", sandboxed(["lookup", "in", "sandbox"]).output, "s3cret")
    check("it is not among the items of the service", world.connect().search(**{"in": "sandbox"}), ([], []))
    portal.stop()
    world.restart()
    portal = Portal(world)
    check("after a restart of all the secret is the same", portal.retrieve("org.example.One"), (0, first))
    check("and libsecret finds its item", sandboxed(["lookup", "in", "sandbox"]).output, "s3cret")
    portal.stop()


def locked(world, report, person):
    check = report.check
    portal = Portal(world)
    first = portal.retrieve("org.example.One")
    SecretTool(world).tool("lock")
    person.will(CANCEL)
    response, secret = portal.retrieve("org.example.One")
    check("locked, a cancelled prompt is a cancelled request", (response, secret), (1, ""))
    person.will(PASSCODE)
    check("after the prompt the secret is the same", portal.retrieve("org.example.One"), first)
    check("the person is asked once", len(person.questions), 1)
    check("the question names the application", "org.example.One" in str(person.questions), True)
    portal.stop()
