# SPDX-License-Identifier: Apache-2.0
"""Steps of a client in Python: each prints a line that the program takes over."""
import sys

IS_LATCHKEY = "--latchkey" in sys.argv


def check(step, found, expected, **others):
    if not IS_LATCHKEY and "gnome_keyring" in others:
        expected = others["gnome_keyring"]
    if found == expected:
        print(f"ok {step}", flush=True)
    else:
        print(f"FAILED {step}: expected {expected!r}, found {found!r}".replace("\n", " "), flush=True)


def raises(step, kind, body):
    try:
        found = body()
    except kind:
        return check(step, kind.__name__, kind.__name__)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return check(step, found, kind.__name__)


def end():
    print("end", flush=True)
