# SPDX-License-Identifier: Apache-2.0
"""The steps of Python keyring. Arguments: the backend, and `--latchkey` for Latchkey."""
import importlib
import sys

import steps
from keyring.errors import PasswordDeleteError
from steps import check, raises

module, _, name = sys.argv[1].rpartition(".")
keyring = getattr(importlib.import_module(module), name)()
check("the backend is usable", keyring.priority > 0, True)
check("get without a match", keyring.get_password("example.com", "alice"), None)
keyring.set_password("example.com", "alice", "s3cret")
check("set and get", keyring.get_password("example.com", "alice"), "s3cret")
check("get of another user", keyring.get_password("example.com", "bob"), None)
keyring.set_password("example.com", "alice", "Grüße 世界\n")
check("set replaces", keyring.get_password("example.com", "alice"), "Grüße 世界\n")
keyring.set_password("example.com", "bob", "")
check("an empty password", keyring.get_password("example.com", "bob"), "")
credential = keyring.get_credential("example.com", "alice")
check("get_credential", (credential.username, credential.password), ("alice", "Grüße 世界\n"))
credential = keyring.get_credential("example.com", None)
check("get_credential without a user", credential.username in ("alice", "bob"), True)
keyring.delete_password("example.com", "alice")
check("delete", keyring.get_password("example.com", "alice"), None)
check("delete leaves the others", keyring.get_password("example.com", "bob"), "")
raises("delete without a match", PasswordDeleteError, lambda: keyring.delete_password("example.com", "alice"))
keyring.delete_password("example.com", "bob")
steps.end()
