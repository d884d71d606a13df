// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Security

/// The text of the diary: one item of the keychain that opens only for its owner.
public struct DiaryStore: Sendable {
    public struct Failure: Error, Equatable {
        public let status: OSStatus

        public init(status: OSStatus) {
            self.status = status
        }
    }

    private let service: String

    public init(service: String = "com.example.diary") {
        self.service = service
    }

    /// Replaces the text, without a prompt: reading needs the owner, not writing.
    public func write(_ text: String) throws {
        var error: Unmanaged<CFError>?
        guard
            let control = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &error)
        else { throw error!.takeRetainedValue() as Error }
        SecItemDelete(query as CFDictionary)
        var item = query
        item[kSecAttrAccessControl as String] = control
        item[kSecValueData as String] = Data(text.utf8)
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    /// Returns the text, with the owner's authentication in the context.
    public func read(with context: LAContext) throws -> String {
        var query = query
        query[kSecUseAuthenticationContext as String] = context
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status == errSecSuccess, let data = result as? Data else { throw Failure(status: status) }
        return String(decoding: data, as: UTF8.self)
    }

    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: "diary",
        ]
    }
}
