// SPDX-License-Identifier: Apache-2.0

import Latchkey

/// The tokens of the service's clients: one item for each client, with the client's name as its account.
struct ClientTokens: Sendable {
    let service: String

    /// Returns the client that a header `Authorization: Bearer NAME.TOKEN` authenticates; nil if it
    /// authenticates none.
    ///
    /// Each request reads the keychain, so that a token that was removed is refused at once.
    func client(of header: String?) async throws -> String? {
        guard let header, header.hasPrefix(Self.scheme) else { return nil }
        let parts = header.dropFirst(Self.scheme.count).split(separator: ".", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let name = String(parts[0])
        let item = GenericPassword(service: service, account: name)
        do {
            let stored = SharedSecret(try await Keychain.default.async.secret(for: item))
            // The time of this comparison depends on the lengths only.
            return stored == SharedSecret(copying: parts[1].utf8) ? name : nil
        } catch KeychainError.itemNotFound {
            return nil
        }
    }

    private static let scheme = "Bearer "
}
