// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import KeychainSessions
internal import LatchkeyService

// MARK: ConsentStore

extension KeychainSecretStore: ConsentStore {
    public func consentMode() throws(SecretStoreError) -> ConsentMode {
        try withKeychain { (keychain) throws(KeychainError) -> ConsentMode in try KeychainConsents(keychain).mode() }
    }

    public func consents() throws(SecretStoreError) -> Set<Consent> {
        try withKeychain { (keychain) throws(KeychainError) -> Set<Consent> in
            Set(try KeychainConsents(keychain).all().map(\.consent))
        }
    }

    public func keep(_ consents: [Consent]) throws(SecretStoreError) {
        try withKeychain { (keychain) throws(KeychainError) -> Void in try KeychainConsents(keychain).add(consents) }
    }
}
