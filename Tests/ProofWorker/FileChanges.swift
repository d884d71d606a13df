// SPDX-License-Identifier: Apache-2.0

import FileProtection
import Foundation
import KeychainModel
import Latchkey
import LatchkeyClient
import LinuxSystem

/// Changes one file in every way until it is killed, and prints a line before and after each change.
enum FileChanges {
    static func run(in directory: String, seed: UInt64) -> Int32 {
        let path = directory + "/file"
        var number = Int(seed) * 1000
        var state = seed
        do {
            while true {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                switch state >> 40 % 7 {
                case 0, 1:
                    number += 1
                    Worker.say("try write \(number)")
                    try write(number, to: path)
                    Worker.say("did write \(number)")
                case 2:
                    number += 1
                    Worker.say("try write \(number)")
                    try ProtectedFile.write(content(number), to: path, protection: .completeUnlessOpen)
                    Worker.say("did write \(number)")
                case 3: try ProtectedFile.unprotect(path)
                case 4: try ProtectedFile.protect(path, .complete)
                case 5: try ProtectedFile.protect(path, .none)
                default:
                    let open = try OpenDirectory(directory)
                    let keys = SessionFileKeys { () throws(KeychainError) in try KeychainClient.session() }
                    if try ProtectedFile.protection(of: path) != nil {
                        _ = try FileConversion(keys).renew("file", in: open)
                    }
                }
            }
        } catch {
            Worker.say("failed \(error)")
            return 1
        }
    }

    /// Stores, replaces and deletes one file in the keychain until it is killed, and prints a line before
    /// and after each change.
    static func store(seed: UInt64) -> Int32 {
        let item = GenericPassword(service: "proof", account: "file")
        var number = Int(seed) * 1000
        do {
            while true {
                number += 1
                Worker.say("try write \(number)")
                if number.isMultiple(of: 5) {
                    // Such a number deletes the file.
                    do { try Keychain.default.delete(item) } catch KeychainError.itemNotFound {}
                } else {
                    try Keychain.default.storeFile(content(number), as: item, replacing: true)
                }
                Worker.say("did write \(number)")
            }
        } catch {
            Worker.say("failed \(error)")
            return 1
        }
    }

    /// Replaces the content in place, in a plain file by a new one.
    private static func write(_ number: Int, to path: String) throws {
        guard try ProtectedFile.protection(of: path) != nil else {
            return try ProtectedFile.write(content(number), to: path)
        }
        let file = try ProtectedFile(path, for: .updating)
        let bytes = content(number)
        try file.write(bytes.prefix(bytes.count / 2), at: 0)
        try file.truncate(to: UInt64(bytes.count))
        try file.write(bytes.dropFirst(bytes.count / 2), at: UInt64(bytes.count / 2))
        try file.close()
    }

    /// The content with a number: up to 300,000 bytes, the number repeated.
    static func content(_ number: Int) -> Data {
        let line = Array("\(number)\n".utf8)
        let count = 1 + number * 7919 % 40_000
        return Data((0..<count).flatMap { _ in line })
    }
}
