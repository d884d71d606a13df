// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyLocalAuthentication
import LatchkeySecurity

/// Items with and without an access control, and the context of their reads.
struct ConstrainedItems {
    let count: Int
    private let context = LAContext()

    init(count: Int) { self.count = count }

    func add() throws {
        guard
            let control = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenUnlocked, .devicePasscode, nil)
        else { throw BenchmarkFailure("SecAccessControlCreateWithFlags returned nil") }
        for number in 0..<count {
            var plain = Self.key(number, Self.plainService)
            plain[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlocked
            plain[kSecValueData as String] = Self.secret(number)
            try Self.require(SecItemAdd(plain as CFDictionary, nil), "add", number)
            var constrained = Self.key(number, Self.constrainedService)
            constrained[kSecAttrAccessControl as String] = control
            constrained[kSecValueData as String] = Self.secret(number)
            try Self.require(SecItemAdd(constrained as CFDictionary, nil), "add with an access control", number)
        }
    }

    func timePlain(_ number: Int) throws -> UInt64 { try time(Self.key(number, Self.plainService), number) }

    func timeConstrained(_ number: Int) throws -> UInt64 {
        var query = Self.key(number, Self.constrainedService)
        query[kSecUseAuthenticationContext as String] = context
        return try time(query, number)
    }

    private func time(_ query: [String: Any], _ number: Int) throws -> UInt64 {
        var query = query
        query[kSecReturnData as String] = true
        let dictionary = query as CFDictionary
        var value: CFTypeRef?
        let (status, nanoseconds) = Stopwatch.time { SecItemCopyMatching(dictionary, &value) }
        try Self.require(status, "read", number)
        guard value as? Data == Self.secret(number) else {
            throw BenchmarkFailure("read of item \(number): the data belongs to another item")
        }
        return nanoseconds
    }

    private static func key(_ number: Int, _ service: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "account \(number)",
            kSecAttrService as String: service,
        ]
    }

    private static func secret(_ number: Int) -> Data { Data("the secret of item \(number)".utf8) }

    private static func require(_ status: OSStatus, _ call: String, _ number: Int) throws {
        guard status == errSecSuccess else { throw BenchmarkFailure("\(call) of item \(number): status \(status)") }
    }

    private static let plainService = "plain"
    private static let constrainedService = "constrained"
}
