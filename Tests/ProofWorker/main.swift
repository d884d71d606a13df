// SPDX-License-Identifier: Apache-2.0

import Glibc

// One process of a proof. Worker.swift contains its operations; LATCHKEY_HOME names the keychain.
exit(Worker.run(Array(CommandLine.arguments.dropFirst())))
