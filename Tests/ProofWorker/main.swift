// SPDX-License-Identifier: Apache-2.0

import Glibc

// One process of a proof. What it does is in Worker.swift; the keychain is the one that LATCHKEY_HOME names.
exit(Worker.run(Array(CommandLine.arguments.dropFirst())))
