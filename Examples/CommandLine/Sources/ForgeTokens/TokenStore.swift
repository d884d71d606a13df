// SPDX-License-Identifier: Apache-2.0

import Latchkey

/// The tokens of a tool: one internet password for each server and account.
public struct TokenStore: Sendable {
    /// An account of a server.
    public struct Account: Hashable, Sendable, CustomStringConvertible {
        public let server: String
        public let name: String

        public init(server: String, name: String) {
            self.server = server
            self.name = name
        }

        public var description: String { "\(name) at \(server)" }
    }

    private let keychain: Keychain

    /// - Parameter keychain: that of the user, or in tests `Keychain.ephemeral()`.
    public init(keychain: Keychain = .default) {
        self.keychain = keychain
    }

    /// Stores a token, or replaces it.
    public func save(_ token: String, for account: Account) throws(KeychainError) {
        try keychain.set(item(account), to: token)
    }

    /// Returns the token; nil if there is none.
    public func token(for account: Account) throws(KeychainError) -> String? {
        do throws(KeychainError) {
            return try keychain.string(for: item(account))
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Removes the token.
    ///
    /// - Returns: whether there was one.
    public func remove(_ account: Account) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try keychain.delete(item(account))
            return true
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return false
        }
    }

    /// Returns the accounts that have a token of this tool.
    public func accounts() throws(KeychainError) -> [Account] {
        let items = try keychain.items(InternetPassword.self, matching: .init(scheme: .https))
        return items.filter { $0.label == Self.label }.map { Account(server: $0.server, name: $0.account) }
    }

    private func item(_ account: Account) -> InternetPassword {
        InternetPassword(server: account.server, account: account.name, scheme: .https, label: Self.label)
    }

    private static let label = "forge"
}
