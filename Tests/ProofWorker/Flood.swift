// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LinuxSystem
import LatchkeySecurity

/// The operations of a hostile user that load the system daemon, all concurrently and until the process is killed. Each
/// round prints `try NAME` before and `did NAME` after it.
enum Flood {
    /// The kinds of operations, with the number of threads for each.
    private static let attacks: [(name: String, threads: Int, round: @Sendable () -> Void)] = [
        ("connections", 1, connect), ("lookups", 2, lookUp), ("searches", 2, search), ("keys", 4, generateKey),
    ]

    static func run() -> Int32 {
        for number in 0..<largeItems {
            guard Worker.add("large-\(number)", String(repeating: "x", count: 100_000)) == errSecSuccess else {
                return 1
            }
        }
        for attack in attacks {
            for _ in 0..<attack.threads {
                BackgroundThread.run {
                    while true {
                        Worker.say("try \(attack.name)")
                        attack.round()
                        Worker.say("did \(attack.name)")
                    }
                }
            }
        }
        while true { pause() }
    }

    private static let largeItems = 30

    /// More connections than a user may have, half of them with bytes that are not a frame.
    private static func connect() {
        guard let path = ProcessInfo.processInfo.environment["LATCHKEY_SYSTEM_SOCKET"] else { return }
        let connections = (0..<300).compactMap { _ in try? Socket(connectingTo: path) }
        for (number, connection) in connections.enumerated() where number.isMultiple(of: 2) {
            RandomBytes.array(count: 64).withUnsafeBytes { _ = try? connection.send($0) }
        }
        usleep(50_000)
        withExtendedLifetime(connections) {}
    }

    /// A lookup of a missing item, with a long name that fills the log.
    private static func lookUp() {
        _ = Worker.read(String(repeating: "long ", count: 10_000) + "\(UInt64.random(in: 0...UInt64.max))")
    }

    /// A search for all items, with their data.
    private static func search() {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecReturnData as String: true,
            kSecReturnAttributes as String: true,
            kSecMatchLimit as String: kSecMatchLimitAll,
        ]
        var result: CFTypeRef?
        _ = SecItemCopyMatching(query as CFDictionary, &result)
    }

    /// Generates the kind of key that takes longest.
    private static func generateKey() {
        let half: [String: Any] = [
            kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: RandomBytes.data(count: 8),
        ]
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits as String: 8192,
            kSecPrivateKeyAttrs as String: half,
        ]
        _ = SecKeyCreateRandomKey(parameters as CFDictionary, nil)
    }
}

extension RandomBytes {
    fileprivate static func data(count: Int) -> Data { Data(array(count: count)) }
}
