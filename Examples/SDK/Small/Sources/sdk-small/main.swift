// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainStore

let keychain = Keychain(service: "sdk-small")
let arguments = Array(CommandLine.arguments.dropFirst())

do {
    switch (arguments.first, arguments.count) {
    case ("set", 3):
        try keychain.set(arguments[2], key: arguments[1])
    case ("get", 2):
        guard let value = try keychain.get(arguments[1]) else { throw KeychainError.itemNotFound }
        print(value)
    case ("version-check", 1):
        print(versionCheck())
    default:
        fail("usage: sdk-small set NAME VALUE | get NAME | version-check", 2)
    }
} catch {
    fail("sdk-small: \(error.localizedDescription)", 1)
}

func fail(_ message: String, _ status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
}
