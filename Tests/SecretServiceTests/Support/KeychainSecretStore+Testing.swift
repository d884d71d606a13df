// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyService
import SecretMemory
import SecretService

extension KeychainSecretStore {
    /// Creates the store as latchkey-secret-service has it: for a program without an identity. It keeps the keychain;
    /// the keychain is closed with its last reference.
    convenience init(testing keychain: TestKeychain) {
        self.init { () throws(KeychainError) in
            KeychainSession(
                keychain.service,
                as: CallerIdentity(
                    executable: "/usr/libexec/latchkey/latchkey-secret-service", isUserCommand: true))
        }
    }
}

extension SecretAttributes {
    init(testing pairs: [String: String]) throws {
        try self.init(validating: pairs.map { SecretAttributes.Pair($0.key, $0.value) })
    }
}

extension SecretValue {
    var text: String { bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
