// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// A search for identities through a connection: the rights of two searches for the halves, in one
/// request.
@Suite("Requests for identities")
struct IdentityRequestTests {
    private static let query = ItemQuery(.identity, synchronizable: .any, limit: .all)

    static func identity(_ number: Int, dataLength: Int = 10) -> IdentityAddition {
        let hash = AttributeValue.data([UInt8(number >> 8), UInt8(number & 0xFF)])
        let data = ItemSecrets(data: SharedSecret(copying: [UInt8](repeating: 7, count: dataLength)))
        return IdentityAddition(
            certificate: ItemAddition(
                .certificate, attributes: [.serialNumber: hash, .publicKeyHash: hash], secrets: data),
            key: ItemAddition(
                .key,
                attributes: [
                    .applicationLabel: hash, .isPrivate: .number(1), .keyClass: .number(KeyHalf.privateKey.rawValue),
                ], secrets: data))
    }

    /// The status of a search; nil if it succeeded.
    private static func status(
        of returning: ReturnTypes, as caller: CallerIdentity?, in fixture: ServerFixture
    ) throws -> OSStatusCode? {
        try fixture.client(as: caller).ask(CopyIdentities(query, returning: returning)).problem?.status
    }

    @Test("The user's own command needs the passcode for the data of either half, but not for attributes")
    func passcode() throws {
        let fixture = try ServerFixture()
        let command = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
        let values: [ReturnTypes] = [
            [], .attributes, .persistentReference, .reference, .data, [.data, .attributes], [.data, .reference],
        ]
        #expect(try fixture.client().ask(AddIdentities([Self.identity(1)])).problem == nil)
        for returning in values { #expect(try Self.status(of: returning, as: command, in: fixture) == nil) }
        #expect(
            try fixture.client(as: command).ask(SetPasscode(SharedSecret(copying: "a passcode".utf8))).problem == nil)
        for returning in values {
            let needsData = !returning.isDisjoint(with: [.data, .reference])
            #expect(
                try Self.status(of: returning, as: command, in: fixture) == (needsData ? .interactionNotAllowed : nil),
                "\(returning)")
            #expect(try Self.status(of: returning, as: nil, in: fixture) == nil, "\(returning)")
        }
    }

    @Test("A program without the groups finds nothing, and other classes are rejected")
    func groups() throws {
        let fixture = try ServerFixture()
        #expect(try fixture.client().ask(AddIdentities([Self.identity(1)])).problem == nil)
        let stranger = CallerIdentity(executable: "/usr/bin/stranger", declaredGroups: ["H"])
        #expect(try Self.status(of: .reference, as: stranger, in: fixture) == .itemNotFound)
        for itemClass in ItemClass.stored {
            let request = CopyIdentities(ItemQuery(itemClass), returning: .attributes)
            #expect(try fixture.client().ask(request).problem?.status == .param)
        }
    }

    @Test("A long result arrives in parts, complete and in order")
    func parts() throws {
        let fixture = try ServerFixture()
        let numbers = 0..<150
        for start in [0, 75] {
            let part = (start..<start + 75).map { Self.identity($0, dataLength: 3_000) }
            #expect(try fixture.client().ask(AddIdentities(part)).problem == nil)
        }
        let client = try fixture.client()
        try client.send(CopyIdentities(Self.query, returning: [.data, .attributes]))
        var parts: [FoundIdentities] = []
        while parts.last?.moreFollows != false {
            guard case .content(let part as FoundIdentities) = try client.receive() else {
                Issue.record("a different response")
                return
            }
            parts.append(part)
        }
        #expect(parts.count > 1)
        let found = parts.flatMap(\.identities)
        #expect(
            found.map { $0.certificate[.serialNumber] }
                == numbers.map { Self.identity($0).certificate.attributes[.serialNumber] })
        #expect(
            found.allSatisfy { $0.certificate.secrets?.data?.count == 3_000 && $0.key.secrets?.data?.count == 3_000 })
        #expect(found.allSatisfy { $0.certificate[.publicKeyHash] == $0.key[.applicationLabel] })
    }

    @Test("An identity that is too large for one response is refused, and the connection stays usable")
    func tooLarge() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let large = Self.identity(1, dataLength: 3 << 20)
        for half in [large.certificate, large.key] { #expect(try client.ask(AddItem(half)).problem == nil) }
        #expect(
            try client.ask(CopyIdentities(Self.query, returning: [.data, .attributes])).problem?.status == .allocate)
        #expect(try client.ask(CopyIdentities(Self.query, returning: .reference)).problem == nil)
        #expect(try client.ask(CopyIdentities(Self.query, returning: .data)).problem == nil)
    }

    @Test("A search for identities with references is one line of the audit log")
    func audit() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        #expect(try client.ask(AddIdentities([Self.identity(1), Self.identity(2)])).problem == nil)
        #expect(try client.ask(CopyIdentities(Self.query, returning: .reference)).problem == nil)
        func lines() throws -> [String] {
            guard case .content(let part as LogPart) = try client.ask(ReadLog(after: 0, since: nil)) else { return [] }
            return part.lines.lines
        }
        #expect(try eventually { try lines().contains { $0.contains(#""operation":"copy""#) } })
        let copies = try lines().filter { !$0.contains(#""operation":"add""#) }
        #expect(copies.count == 1, "\(copies)")
        #expect(copies.allSatisfy { $0.contains(#""class":"idnt""#) && $0.contains(#""count":2"#) })
    }
}
