# SPDX-License-Identifier: Apache-2.0
"""Clients that Debian has no package of: they are built or fetched for one run."""
import os
import re

from .processes import run

GIT_SOURCES = "/usr/share/doc/git/contrib/credential/libsecret"
PATH = "/usr/local/bin:/usr/bin:/bin"


class Tools:
    """The tools of a run beside the installed programs, in its own directory."""

    def __init__(self, provider, directory, options):
        self.provider, self.directory = provider, directory
        self.git_credential, self.git_problem = options.git_credential, None
        self.python, self.python_problem = options.python, "it was not asked for (--pypi)"
        suites = {suite.name for suite in options.suites}
        if not self.git_credential and suites & {"git", "table", "passcode"}:
            self._build_git()
        if options.pypi and not self.python and suites & {"keyring", "secretstorage"}:
            self._fetch_python()

    def _build_git(self):
        """Builds git's helper from the sources that Debian's package of git contains."""
        if not os.path.isdir(GIT_SOURCES):
            self.git_problem = f"{GIT_SOURCES} does not exist"
            return
        copy = os.path.join(self.directory, "git-credential")
        environment = {"PATH": PATH, "TMPDIR": self.directory, "LC_ALL": "C.UTF-8"}
        outcome = run(["/bin/sh", "-c", f"cp -r '{GIT_SOURCES}' '{copy}' && make -C '{copy}'"], environment)
        if outcome.succeeded:
            self.git_credential = os.path.join(copy, "git-credential-libsecret")
        else:
            missing = re.search(r"Package .*? was not found|\S+: (?:[Cc]ommand )?not found", outcome.error)
            self.git_problem = f"it cannot be built: {missing[0] if missing else outcome.problem}"

    def _fetch_python(self):
        """Makes a Python with PyPI's versions. The settings of pip are those of the caller."""
        place = os.path.join(self.directory, "python")
        script = f"/usr/bin/python3 -m venv '{place}' && '{place}/bin/pip' install --quiet keyring secretstorage"
        outcome = run(["/bin/sh", "-c", script], {**os.environ, "PATH": PATH}, timeout=600)
        if outcome.succeeded:
            self.python = os.path.join(place, "bin", "python")
        else:
            self.python_problem = f"it could not be fetched: {outcome.problem}"

    @staticmethod
    def has_module(python, *names):
        return run([python, "-c", f"import {', '.join(names)}"], {"PATH": PATH}).succeeded
