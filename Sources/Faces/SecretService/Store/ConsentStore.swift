// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The person's permanent consents for programs, and whether the person is asked about programs at all. Changes are
/// reported to the observers of the store as changes of contents.
public protocol ConsentStore: Sendable {
    func consentMode() throws(SecretStoreError) -> ConsentMode

    func consents() throws(SecretStoreError) -> Set<Consent>

    /// Keeps consents until the person revokes them.
    func keep(_ consents: [Consent]) throws(SecretStoreError)
}
