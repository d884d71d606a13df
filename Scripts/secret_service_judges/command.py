# SPDX-License-Identifier: Apache-2.0
"""The command line: which judges run, and with what."""
import argparse
import os
import shutil
import tempfile
import traceback

from . import chromium, clients, passcode, portal, provider, python_judges, table, tool_judges
from .processes import find
from .report import Report


class Judge:
    """One judge: what must be installed, and its steps."""

    def __init__(self, name, summary, body, missing=lambda tools: None):
        self.name, self.summary, self.body, self.missing = name, summary, body, missing


class Judges:
    """What the judges of one run share."""

    def __init__(self, options, tools):
        self.options, self.tools, self.provider = options, tools, tools.provider


ALL = [
    Judge("secret-tool", "secret-tool of libsecret", tool_judges.secret_tool, clients.SecretTool.missing),
    Judge("git", "git-credential-libsecret, and git with it", tool_judges.git_credential, clients.GitCredential.missing),
    Judge("docker", "docker-credential-secretservice", tool_judges.docker_credential, clients.DockerCredential.missing),
    Judge("secretstorage", "secretstorage, plain and encrypted", python_judges.secretstorage),
    Judge("keyring", "Python keyring", python_judges.keyring),
    Judge("libsecret", "libsecret's own interface, through PyGObject", python_judges.libsecret,
          python_judges.missing_libsecret),
    Judge("table", "items of each client, through each of the others", table.run),
    Judge("passcode", "locked answers, prompts, dismissals and waits", passcode.passcode, clients.SecretTool.missing),
    Judge("chromium", "Chromium's key, over restarts", chromium.chromium, chromium.missing),
    Judge("portal", "xdg-desktop-portal, with applications in sandboxes", portal.portal, portal.missing),
]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="secret-service-judges", description="Runs foreign clients of the Secret Service against a provider.")
    parser.add_argument("--binaries", metavar="DIRECTORY", help="where latchkey, security, latchkeyd and "
                        "latchkey-secret-service are")
    parser.add_argument("--provider", choices=["latchkey", "gnome-keyring"], default="latchkey")
    parser.add_argument("--without-daemon", action="store_true", help="each program opens the keychain for itself")
    parser.add_argument("--only", metavar="NAME,…", help="these judges; --list shows all")
    parser.add_argument("--list", action="store_true", help="list the judges, and end")
    parser.add_argument("--require-all", action="store_true", help="an absent client is a failure")
    parser.add_argument("--git-credential", metavar="FILE", help="git-credential-libsecret; otherwise it is built")
    parser.add_argument("--python", metavar="FILE", help="a Python with PyPI's keyring and secretstorage")
    parser.add_argument("--slow", action="store_true", help="wait ten minutes for the end of a prompt")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else [judge.name for judge in ALL]
    unknown = [name for name in names if name not in {judge.name for judge in ALL}]
    if unknown:
        parser.error(f"no judge is named {', '.join(unknown)}; --list shows all")
    if options.provider == "latchkey" and not options.binaries and not options.list:
        parser.error("--binaries is needed")
    options.judges = [judge for judge in ALL if judge.name in names]
    return options


def main(arguments):
    options = parse(arguments)
    if options.list:
        for judge in options.judges:
            print(f"{judge.name:20}{judge.summary}")
        return 0
    chosen = provider.make(options.provider, os.path.abspath(options.binaries or "."), not options.without_daemon)
    report = Report(chosen.is_latchkey, options.require_all)
    report.judge = chosen.name
    missing = chosen.missing or (None if find("dbus-daemon") else "dbus-daemon is not installed")
    if missing:
        report.skip("everything", missing)
        return report.finish()
    directory = tempfile.mkdtemp(prefix="judges-tools-")
    try:
        tools = clients.Tools(chosen, directory, options.git_credential, options.python)
        judges = Judges(options, tools)
        for judge in options.judges:
            run(judge, judges, report)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return report.finish()


def run(judge, judges, report):
    report.judge = judge.name
    missing = judge.missing(judges.tools)
    if missing:
        report.skip("everything", missing)
        return
    try:
        judge.body(judges, report)
    # Each judge is told its own failure, and the others run.
    except Exception as error:
        traceback.print_exc()
        report.fail("ends", f"{type(error).__name__}: {error}")
