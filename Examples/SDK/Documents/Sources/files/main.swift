// SPDX-License-Identifier: Apache-2.0

import Foundation

let url = URL(fileURLWithPath: CommandLine.arguments[2])
do {
    switch CommandLine.arguments[1] {
    case "write": try Data("a secret".utf8).write(to: url, options: .completeFileProtection)
    default: print(String(decoding: try Data(contentsOf: url), as: UTF8.self))
    }
} catch { print("refused \((error as NSError).code)") }
