// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyClient
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory

/// The exit status and the output of `latchkey import --from`.
struct ImportRun: CustomStringConvertible {
    let status: Int32
    let output: String
    let error: String

    var description: String { "\(status)\n\(output)\n\(error)" }

    /// The decoded fields of the JSON report.
    struct Report: Decodable {
        let dryRun: Bool
        let new: Int
        let equal: Int
        let different: Int
        let leftOut: Int
        let collections: [Collection]
        let items: [Item]

        struct Collection: Decodable {
            let label: String
            let accessGroup: String?
            let reason: String?
        }

        struct Item: Decodable {
            let state: String
            let collection: String
            let name: String
            let label: String?
            let attributes: [String: String]?
            let reason: String?
        }

        /// The numbers of the items that are new, equal, different and left out.
        var counts: [Int] { [new, equal, different, leftOut] }
    }

    func report() throws -> Report { try JSONDecoder().decode(Report.self, from: Data(output.utf8)) }
}

/// A password as the keychain has it.
struct StoredPassword: Hashable {
    let attributes: [String: String]
    let secret: String
    let label: String
    let contentType: String?
    /// In seconds since 1970.
    let created: Double
}

extension TestKeychain {
    /// Runs `latchkey import --from gnome-keyring` with further options, as the user's command.
    func importKeyring(_ words: String..., from keyring: String = "gnome-keyring", input: [String] = []) -> ImportRun {
        let io = MemoryIO(input: input)
        let line = (["latchkey", "import", "--from", keyring] + words).map { CommandWord($0) }
        let status = run(groups: nil, executable: "/usr/bin/latchkey", isUserCommand: true) {
            LatchkeyMain.run(line, io: io)
        }
        return ImportRun(status: status, output: io.outputText, error: io.errorText)
    }

    /// All passwords of the shared group.
    func passwords() throws -> Set<StoredPassword> {
        let records = try run(groups: nil, executable: "/usr/bin/latchkey", isUserCommand: true) {
            () throws -> [ItemRecord] in
            var query = ItemQuery(nil, accessGroup: AccessGroup.shared.name, synchronizable: .any, limit: .all)
            query.lookupAttributes = .empty
            do throws(KeychainError) {
                return try KeychainClient.session().copyMatching(query, returning: [.attributes, .data]).records
            } catch {
                guard error.status == .itemNotFound else { throw error }
                return []
            }
        }
        return Set(records.map(StoredPassword.init))
    }
}

extension StoredPassword {
    init(_ record: ItemRecord) {
        let pairs = record.lookupAttributes?.entries.map { ($0.name, $0.value) } ?? []
        attributes = Dictionary(uniqueKeysWithValues: pairs)
        secret = record.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
        label = record[.label]?.text ?? ""
        contentType = record.contentType?.text
        created = record.created + 978_307_200
    }
}
