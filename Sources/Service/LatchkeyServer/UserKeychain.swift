// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// A keychain of a user, by its name.
public struct UserKeychain: Hashable, Sendable {
    public let user: UInt32
    public let name: KeychainName

    public init(_ user: UInt32, _ name: KeychainName = .login) { (self.user, self.name) = (user, name) }
}
