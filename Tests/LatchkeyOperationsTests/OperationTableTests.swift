// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
import LatchkeyService
import Testing

/// Each request of the schema is one operation.
@Suite("Operations")
struct OperationTableTests {
    /// The numbers and names of the requests in the schema.
    static func schema() throws -> [UInt64: String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/Service/LatchkeyProtocol/latchkey.proto")
        let text = try String(contentsOf: file.standardized, encoding: .utf8)
        let block = try #require(text.components(separatedBy: "oneof operation {\n").dropFirst().first)
        let content = block.prefix { $0 != "}" }
        return Dictionary(
            uniqueKeysWithValues: content.matches(of: /^ +\w+ (\w+) = (\d+);/.anchorsMatchLineEndings()).compactMap {
                match in UInt64(match.2).map { ($0, String(match.1)) }
            })
    }

    /// The number of the field that contains the operation: with neither a number nor a token, it is
    /// the message's first field.
    static func field(_ operation: any KeychainOperation) throws -> UInt64 {
        var key: UInt64 = 0
        for (index, byte) in try NumberedRequest(number: 0, operation).frame().message.prefix(10).enumerated() {
            key |= UInt64(byte & 0x7F) << (7 * UInt64(index))
            if byte & 0x80 == 0 { break }
        }
        return key >> 3
    }

    @Test("Each request of the schema is encoded from, and decoded to, exactly one operation")
    func exhaustive() throws {
        var names: [UInt64: Set<String>] = [:]
        for operation in Samples.requests {
            let name = "\(type(of: operation))"
            names[try Self.field(operation), default: []].insert(name)
            let again = try NumberedRequest(Samples.numbered(operation).frame())
            #expect("\(type(of: again.operation))" == name)
        }
        let schema = try Self.schema()
        #expect(schema.count > 30)
        #expect(Set(names.keys) == Set(schema.keys), "every request of the schema needs a sample")
        for (number, operations) in names {
            #expect(operations.count == 1, "\(schema[number] ?? "\(number)"): \(operations.sorted())")
        }
        #expect(Set(names.values.flatMap { $0 }).count == names.count)
    }

    @Test("The kept part of a response for a repeated request contains no secret")
    func keptAnswers() throws {
        let addition = AddItem(
            ItemAddition(.genericPassword, secrets: ItemSecrets(data: Samples.secret("of the request"))))
        var record = Samples.record
        record.attributes = [:]
        #expect(record.secrets?.data != nil)
        let kept = try addition.kept(record)
        #expect(kept.secrets == nil)
        #expect(addition.repeated(kept).secrets?.data == Samples.secret("of the request"))
        #expect(throws: KeychainError.self) {
            _ = try CreateRecoveryKey(nil).kept(RecoveryKeyText(Samples.secret("a recovery key")))
        }
    }

    @Test("An operation that changes something has an entry in the audit log")
    func changesAreAudited() {
        for operation in Samples.requests where type(of: operation).traits.contains(.changes) {
            #expect(operation.audit != nil, "\(type(of: operation))")
        }
    }

    @Test("A request with a passcode says so to the audit log")
    func passcodes() throws {
        for operation in Samples.requests {
            let fields = Mirror(reflecting: operation).children
            let hasPasscode = fields.contains { field in
                ["passcode", "newPasscode", "old", "new"].contains(field.label) && "\(field.value)" != "nil"
            }
            #expect(operation.audit?.includesPasscode ?? false == hasPasscode, "\(type(of: operation))")
            #expect(operation.audit?.promptsForPasscode ?? false == (operation is Authenticate))
        }
    }
}
