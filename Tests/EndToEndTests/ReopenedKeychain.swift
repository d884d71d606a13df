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
    func data(account: String) throws -> String? {
        let attributes: [ItemAttribute: AttributeValue] = [.service: .string("proof"), .account: .string(account)]
        let found = try records(ItemQuery(.genericPassword, attributes: attributes), returning: .data)
        return found.first?.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
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
