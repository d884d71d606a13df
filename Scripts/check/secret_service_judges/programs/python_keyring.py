# SPDX-License-Identifier: Apache-2.0
"""One call of Python keyring. Arguments: BACKEND get|set|delete SERVICE USER; the secret is on standard input."""
import importlib
import sys

from keyring.errors import KeyringLocked, PasswordDeleteError

backend, command, service, user = sys.argv[1:5]
module, _, name = backend.rpartition(".")
keyring = getattr(importlib.import_module(module), name)()
try:
    if command == "get":
        found = keyring.get_password(service, user)
        if not isinstance(found, str):
            sys.exit(1)
        sys.stdout.write(found)
    elif command == "set":
        keyring.set_password(service, user, sys.stdin.read())
    else:
        keyring.delete_password(service, user)
except KeyringLocked:
    print("locked", file=sys.stderr)
    sys.exit(2)
except PasswordDeleteError:
    print("not found", file=sys.stderr)
    sys.exit(3)
