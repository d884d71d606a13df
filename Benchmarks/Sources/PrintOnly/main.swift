// SPDX-License-Identifier: Apache-2.0

import Foundation

// Does the work of `security find-generic-password -w` without the search: starts, loads Foundation, and prints a
// secret of the same length.
print(String(decoding: Data("secret-0000000000000".utf8), as: UTF8.self))
// With an argument it waits until it is killed, like an idle daemon.
if CommandLine.arguments.count > 1 { sleep(3600) }
