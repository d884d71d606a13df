// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeySecurity

/// Calls with instructions that callgrind counts, each kind in a function of its own
/// (`Scripts/measure/instructions --short`).
enum CountedCalls {
    /// Fills a new keychain, so that only the calls themselves run under callgrind.
    static func fill() -> Int32 {
        for number in 0..<itemCount { guard SecItemAdd(addition(number), nil) == errSecSuccess else { return 1 } }
        return 0
    }

    static func run() -> Int32 {
        // The first calls of a process open the keychain, and fill caches.
        let isSuccess =
            makeCalls(0..<10, copy, copy, copy, add, copy)
            && makeCalls(
                100..<500, markedCallOfLookup, markedCallOfLookupByAccount, markedCallOfAttributes, markedCallOfAdd,
                markedCallOfServiceItems)
        return isSuccess ? 0 : 1
    }

    private typealias Call = (CFDictionary) -> OSStatus

    private static func makeCalls(
        _ numbers: Range<Int>, _ find: Call, _ findByAccount: Call, _ readAttributes: Call, _ add: Call,
        _ findAll: Call
    ) -> Bool {
        for number in numbers {
            let statuses = [
                find(lookup(number, kSecReturnData)), findByAccount(lookup(number, kSecReturnData, isByAccount: true)),
                readAttributes(lookup(number, kSecReturnAttributes)), add(addition(itemCount + number)),
            ]
            guard statuses.allSatisfy({ $0 == errSecSuccess }) else { return false }
        }
        return (0..<max(1, numbers.count / 50)).allSatisfy { findAll(service($0)) == errSecSuccess }
    }

    // MARK: Items

    private static func addition(_ number: Int) -> CFDictionary {
        var attributes = key(number)
        attributes[kSecAttrLabel as String] = "Label of item \(number)"
        attributes[kSecValueData as String] = Data(repeating: UInt8(truncatingIfNeeded: number), count: 32)
        return attributes as CFDictionary
    }

    private static func lookup(_ number: Int, _ returning: CFString, isByAccount: Bool = false) -> CFDictionary {
        var query = key(number)
        if isByAccount { query[kSecAttrService as String] = nil }
        query[returning as String] = true
        return query as CFDictionary
    }

    private static func service(_ number: Int) -> CFDictionary {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "service-\(number)",
            kSecMatchLimit as String: kSecMatchLimitAll, kSecReturnAttributes as String: true,
            kSecReturnData as String: true,
        ] as CFDictionary
    }

    private static func key(_ number: Int) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "account-\(number)",
            kSecAttrService as String: "service-\(number / 100)",
        ]
    }

    private static let itemCount = 1000
}

// Callgrind finds these functions by their names.

@inline(never)
private func markedCallOfLookup(_ query: CFDictionary) -> OSStatus { copy(query) }

@inline(never)
private func markedCallOfLookupByAccount(_ query: CFDictionary) -> OSStatus { copy(query) }

@inline(never)
private func markedCallOfAttributes(_ query: CFDictionary) -> OSStatus { copy(query) }

@inline(never)
private func markedCallOfServiceItems(_ query: CFDictionary) -> OSStatus { copy(query) }

@inline(never)
private func markedCallOfAdd(_ addition: CFDictionary) -> OSStatus { add(addition) }

private func add(_ addition: CFDictionary) -> OSStatus { SecItemAdd(addition, nil) }

private func copy(_ query: CFDictionary) -> OSStatus {
    var value: CFTypeRef?
    return SecItemCopyMatching(query, &value)
}
