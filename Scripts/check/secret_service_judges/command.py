# SPDX-License-Identifier: Apache-2.0
"""The command line: the suites that run, and their options."""
import argparse
import os
import shutil
import tempfile
import traceback

from . import chromium, clients, command_line_clients, passcode, portal, provider, python_clients, table
from .processes import find
from .report import Report
from .tools import Tools


class Suite:
    """The steps of some clients, and the programs that they need."""

    def __init__(self, name, summary, body, missing=lambda tools: None):
        self.name, self.summary, self.body, self.missing = name, summary, body, missing


class Context:
    """The state that the suites of one run share."""

    def __init__(self, options, tools):
        self.options, self.tools, self.provider = options, tools, tools.provider


ALL = [
    Suite("secret-tool", "secret-tool of libsecret", command_line_clients.secret_tool, clients.SecretTool.missing),
    Suite("git", "git-credential-libsecret, and git with it", command_line_clients.git_credential,
          clients.GitCredential.missing),
    Suite("docker", "docker-credential-secretservice", command_line_clients.docker_credential,
          clients.DockerCredential.missing),
    Suite("secretstorage", "secretstorage, plain and encrypted", python_clients.secretstorage),
    Suite("keyring", "Python keyring", python_clients.keyring),
    Suite("libsecret", "libsecret's own interface, through PyGObject", python_clients.libsecret,
          python_clients.missing_libsecret),
    Suite("table", "items of each client, through each of the others", table.run),
    Suite("passcode", "locked answers, prompts, dismissals and waits", passcode.passcode, clients.SecretTool.missing),
    Suite("chromium", "Chromium's key, over restarts", chromium.chromium, chromium.missing),
    Suite("portal", "xdg-desktop-portal, with applications in sandboxes", portal.portal, portal.missing),
]


def parse(arguments):
    parser = argparse.ArgumentParser(description="Runs foreign clients of the Secret Service against a provider.")
    parser.add_argument("--binaries", metavar="DIRECTORY", help="where latchkey, latchkeyd and "
                        "latchkey-secret-service are")
    parser.add_argument("--provider", choices=["latchkey", "gnome-keyring"], default="latchkey")
    parser.add_argument("--without-daemon", action="store_true", help="each program opens the keychain for itself")
    parser.add_argument("--only", metavar="NAME,…", help="these suites; --list shows all")
    parser.add_argument("--list", action="store_true", help="list the suites, and end")
    parser.add_argument("--require-all", action="store_true", help="an absent client is a failure")
    parser.add_argument("--git-credential", metavar="FILE", help="git-credential-libsecret; otherwise it is built")
    parser.add_argument("--pypi", action="store_true", help="also PyPI's keyring and secretstorage, which are fetched")
    parser.add_argument("--python", metavar="FILE", help="a Python that has PyPI's keyring and secretstorage")
    parser.add_argument("--slow", action="store_true", help="wait ten minutes for the end of a prompt")
    options = parser.parse_args(arguments)
    known = [suite.name for suite in ALL]
    names = options.only.split(",") if options.only else known
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"there is no suite {', '.join(unknown)}; --list shows all")
    if options.provider == "latchkey" and not options.binaries and not options.list:
        parser.error("--binaries is needed")
    options.suites = [suite for suite in ALL if suite.name in names]
    return options


def main(arguments):
    options = parse(arguments)
    if options.list:
        for suite in options.suites:
            print(f"{suite.name:16}{suite.summary}")
        return 0
    chosen = provider.make(options.provider, os.path.abspath(options.binaries or "."), not options.without_daemon)
    report = Report(chosen.is_latchkey, options.require_all)
    report.suite = chosen.name
    missing = chosen.missing or (None if find("dbus-daemon") else "dbus-daemon is not installed")
    if missing:
        report.skip("everything", missing)
        return report.finish()
    directory = tempfile.mkdtemp(prefix="secret-service-tools-")
    try:
        context = Context(options, Tools(chosen, directory, options))
        for suite in options.suites:
            run(suite, context, report)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return report.finish()


def run(suite, context, report):
    report.suite = suite.name
    missing = suite.missing(context.tools)
    if missing:
        report.skip("everything", missing)
        return
    try:
        suite.body(context, report)
    # Each failure is reported, and the other suites run.
    except Exception as error:
        traceback.print_exc()
        report.fail("ends", f"{type(error).__name__}: {error}")
