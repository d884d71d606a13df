// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import FoundationNetworking

extension URLCredentialStorage {
    /// Credentials by protection space: those for the session in memory, permanent ones in the keychain as internet
    /// passwords (`security find-internet-password` shows them).
    ///
    /// `URLCredentialStorage.shared` of Foundation on Linux finds no credential, and keeps none.
    public static var latchkey: URLCredentialStorage { LatchkeyCredentialStorage.instance }
}
