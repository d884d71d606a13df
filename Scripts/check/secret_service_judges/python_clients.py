# SPDX-License-Identifier: Apache-2.0
"""Clients that are libraries of Python: secretstorage, keyring and libsecret."""
import os

from .processes import run
from .world import World

DEBIAN = "/usr/bin/python3"
SECRET_SERVICE = "keyring.backends.SecretService.Keyring"
LIBSECRET = "keyring.backends.libsecret.Keyring"


def steps(world, report, title, python, program, *arguments):
    """Runs a program of steps, and takes over its results."""
    path = os.path.join(os.path.dirname(__file__), "programs", program)
    words, environment = [python, "-B", path, *arguments], world.environment
    if world.provider.is_latchkey:
        words.append("--latchkey")
        environment["LATCHKEY"] = world.provider.path("latchkey")
    report.take(run(words, environment), title)


def interpreters(context, report, module):
    """The interpreters that have a module: Debian's, and one with PyPI's version."""
    found = []
    if context.tools.has_module(DEBIAN, module):
        found.append((f"Debian's {version(DEBIAN, module)}", DEBIAN))
    else:
        report.skip("Debian's", f"python3-{module} is not installed")
    python = context.tools.python
    if not python:
        report.skip("PyPI's", context.tools.python_problem)
    elif context.tools.has_module(python, module):
        found.append((f"PyPI's {version(python, module)}", python))
    else:
        report.skip("PyPI's", f"{python} does not have {module}")
    return found


def version(python, module):
    words = [python, "-c", f"import importlib.metadata; print(importlib.metadata.version('{module}'))"]
    return run(words, {"PATH": "/usr/bin:/bin"}).output.strip()


def secretstorage(context, report):
    for name, python in interpreters(context, report, "secretstorage"):
        for mode in ["plain", "dh"]:
            with World(context.provider) as world:
                steps(world, report, f"{name}, {mode}", python, "secretstorage_steps.py", mode)


def keyring(context, report):
    for name, python in interpreters(context, report, "keyring"):
        with World(context.provider) as world:
            steps(world, report, name, python, "keyring_steps.py", SECRET_SERVICE)
        if python == DEBIAN and context.tools.has_module(python, "gi.repository.Secret"):
            with World(context.provider) as world:
                steps(world, report, f"{name} with libsecret", python, "keyring_steps.py", LIBSECRET)


def libsecret(context, report):
    with World(context.provider) as world:
        steps(world, report, "PyGObject", DEBIAN, "libsecret_steps.py")


def missing_libsecret(tools):
    code = "gi.repository.Secret"
    return None if tools.has_module(DEBIAN, code) else "python3-gi or gir1.2-secret-1 is not installed"
