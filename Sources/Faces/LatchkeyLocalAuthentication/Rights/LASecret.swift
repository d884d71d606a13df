// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// A secret that an ``LAPersistedRight`` protects.
public final class LASecret: NSObject, Sendable {
    private let reference: PersistentReference?
    private let authorization: RightAuthorization

    init(_ reference: PersistentReference?, _ authorization: RightAuthorization) {
        self.reference = reference
        self.authorization = authorization
    }

    /// Reads the secret, without a prompt.
    ///
    /// - Parameter handler: called once, on another thread, with the secret or with an error:
    ///   `LAError.notInteractive` if the right is not authorized, `errSecItemNotFound` if the right
    ///   was saved without a secret.
    @preconcurrency
    public func loadData(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        runInBackground(load) { handler($0.value, $0.error) }
    }

    /// The secret, read as ``loadData(completion:)`` does.
    public var rawData: Data {
        get async throws { try await inBackground(load) }
    }

    @Sendable private func load() throws -> Data {
        guard let reference else { throw KeychainError(.itemNotFound, "the right was saved without a secret") }
        let query = ItemQuery(
            reference.itemClass, synchronizable: .any, persistentReference: reference,
            authentication: try authorization.authentication())
        let found = try KeychainClient.session().copyMatching(query, returning: .data)
        guard let secret = found.records.first?.secrets?.data else { throw KeychainError.itemNotFound }
        // EXPOSE: the caller asked for the secret as Data.
        return secret.withUnsafeBytes { Data($0) }
    }
}
