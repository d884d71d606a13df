// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import Latchkey
@_spi(Testing) import LatchkeyClient
import LatchkeyService
import SecretMemory

/// The keychain that other processes have written, opened by the test.
struct ReopenedKeychain {
    let service: EmbeddedService
    private let caller = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)

    init(_ home: TemporaryDirectory) throws {
        try self.init(path: home.path)
    }

    init(path: String) throws {
        service = try EmbeddedService(home: KeychainHome(root: path))
    }

    /// Returns the data of the proof's item with this account as text; nil if it does not exist.
    ///
    /// - Parameter group: its access group; nil for any.
    func data(account: String, group: String? = nil) throws -> String? {
        var query = ItemQuery(.genericPassword, attributes: Self.attributes(account))
        query.accessGroup = group
        let found = try records(query, returning: .data)
        return found.first?.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Adds an item of the proof to the shared group.
    func add(account: String, data: String) throws {
        let item = ItemAddition(
            .genericPassword, attributes: Self.attributes(account),
            secrets: ItemSecrets(data: SharedSecret(copying: data.utf8)))
        _ = try service.items.add(item, from: caller)
    }

    private static func attributes(_ account: String) -> [ItemAttribute: AttributeValue] {
        [.service: .string("proof"), .account: .string(account)]
    }

    /// The accounts of all items of the proof.
    func accounts() throws -> [String] {
        let query = ItemQuery(.genericPassword, attributes: [.service: .string("proof")], limit: .all)
        return try records(query, returning: .attributes).compactMap { $0[.account]?.text }
    }

    /// Returns the content of a protected file.
    func contents(ofProtectedFile path: String) throws -> Data {
        try CallerContext.$current.withValue(CallerContext(identity: caller, service: service)) {
            try ProtectedFile.contents(of: path)
        }
    }

    /// Returns the content of the proof's stored file; nil if it does not exist.
    func storedFile() throws -> Data? {
        try CallerContext.$current.withValue(CallerContext(identity: caller, service: service)) {
            do throws(KeychainError) {
                return try Keychain.default.storedFile(GenericPassword(service: "proof", account: "file")).contents()
            } catch {
                guard error.status == .itemNotFound else { throw error }
                return nil
            }
        }
    }

    private func records(_ query: ItemQuery, returning: ReturnTypes) throws -> [ItemRecord] {
        do throws(KeychainError) {
            let matches = try service.items.copyMatching(query, returning: returning, from: caller)
            return matches.damaged == 0 ? matches.records : []
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }
}
