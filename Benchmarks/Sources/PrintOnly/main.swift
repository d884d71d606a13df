// SPDX-License-Identifier: Apache-2.0

import Foundation

// As much as `security find-generic-password -w` does apart from finding: start, load Foundation, print a secret of the same length.
print(String(decoding: Data("secret-0000000000000".utf8), as: UTF8.self))
// With an argument it stays, as a daemon does that does nothing, until it is ended.
if CommandLine.arguments.count > 1 { sleep(3600) }
