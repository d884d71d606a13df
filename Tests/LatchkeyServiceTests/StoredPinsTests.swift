// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing
import TransportPolicy

/// The pins that `latchkey pin` stores: Documentation/Formats/pins.md.
@Suite("Stored pins")
struct StoredPinsTests {
    private static func pin(_ byte: UInt8) throws -> Pin { try #require(Pin(hash: Array(repeating: byte, count: 32))) }

    private static func record(
        _ domain: String, _ bytes: [UInt8] = [9, 1], subdomains: Subdomains = .oneLevel,
        _ placement: PinPlacement = .certificateAuthority, origin: HostPins.Origin = .firstUse
    ) throws -> HostPins {
        try HostPins(
            DomainName(domain), subdomains: subdomains,
            PinRequirement(placement, bytes.map { try pin($0) }), origin: origin, created: 0x0102_0304)
    }

    // MARK: Form

    @Test("SPIN-1: a record has the bytes that the format describes")
    func form() throws {
        let record = try Self.record("a.example").recording(isMatch: true, at: 0x0A0B).recording(isMatch: false, at: 1)
        let expected: [UInt8] =
            Array("LKPN".utf8) + [1, 1, 2] + [0, 0, 0, 0, 1, 2, 3, 4] + [0, 0, 0, 0, 0, 0, 0x0A, 0x0B] + [0, 0, 0, 1]
            + [9] + Array("a.example".utf8) + [2, 2] + Array(repeating: 1, count: 32) + Array(repeating: 9, count: 32)
        #expect(record.encoded == expected)
        #expect(try HostPins(encoded: expected) == record)
    }

    @Test("SPIN-1: every kind of record is read as it was written")
    func kinds() throws {
        for subdomains in Subdomains.allCases {
            for placement in PinPlacement.allCases {
                for origin in HostPins.Origin.allCases {
                    let record = try Self.record(
                        "xn--bcher-kva.example", [3], subdomains: subdomains, placement, origin: origin)
                    #expect(try HostPins(encoded: record.encoded) == record)
                }
            }
        }
    }

    @Test("SPIN-2: a record with any byte flipped, cut off or added is refused or is another valid record")
    func flipped() throws {
        let record = try Self.record("a.example")
        let bytes = record.encoded
        var refused = 0
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                guard let other = try? HostPins(encoded: changed) else {
                    refused += 1
                    continue
                }
                #expect(other != record && other.encoded == changed, "byte \(index)")
            }
            #expect(throws: KeychainError.self) { try HostPins(encoded: Array(bytes.prefix(index))) }
        }
        // Magic, version, codes, lengths and the order of the pins.
        #expect(refused > 8 * 5)
        #expect(throws: KeychainError.self) { try HostPins(encoded: bytes + [0]) }
        let pins = bytes.suffix(64)
        let swapped = bytes.dropLast(64) + pins.suffix(32) + pins.prefix(32)
        #expect(throws: KeychainError.self) { try HostPins(encoded: Array(swapped)) }
        let twice = bytes.dropLast(64) + pins.prefix(32) + pins.prefix(32)
        #expect(throws: KeychainError.self) { try HostPins(encoded: Array(twice)) }
        #expect(throws: KeychainError.self) { try HostPins(encoded: Array(repeating: 1, count: 1 << 20)) }
    }

    @Test("SPIN-2: a record of an unknown version is named")
    func version() throws {
        var bytes = try Self.record("a.example").encoded
        bytes[4] = 2
        let error = #expect(throws: KeychainError.self) { try HostPins(encoded: bytes) }
        #expect(error?.problem.contains("version 2") == true)
    }

    @Test("The number of failures stays at its maximum, and a match is never recorded as none")
    func counting() throws {
        var record = try Self.record("a.example")
        record.failureCount = .max
        #expect(record.recording(isMatch: false, at: 5).failureCount == .max)
        #expect(record.recording(isMatch: true, at: 0).lastSeen == 1)
    }

    // MARK: In the keychain

    /// Stores an item as a program could that does not keep to the format.
    private static func store(_ data: [UInt8], account: String, group: String? = nil) throws {
        let attributes: [ItemAttribute: AttributeValue] = [
            .service: .string(StoredPins.service), .account: .string(account),
        ]
        let secrets = ItemSecrets(data: SharedSecret(copying: data))
        _ = try KeychainClient.session().add(
            ItemAddition(.genericPassword, attributes: attributes, secrets: secrets, accessGroup: group))
    }

    @Test("SPIN-7: pins are added once, updated and removed", arguments: Backend.allCases)
    func life(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let (stored, record) = (StoredPins(), try Self.record("example.com"))
            #expect(try stored.all().isEmpty)
            #expect(throws: KeychainError.self) { try stored.update(record) }
            try stored.add(record)
            let error = #expect(throws: KeychainError.self) { try stored.add(Self.record("example.com", [5])) }
            #expect(error?.status == .duplicateItem)
            #expect(try stored.all() == [record])
            let seen = record.recording(isMatch: true, at: 77)
            try stored.update(seen)
            #expect(try stored.pins(of: DomainName("example.com"))?.lastSeen == 77)
            #expect(try stored.pins(for: DomainName("api.example.com")) == seen)
            #expect(try stored.pins(for: DomainName("a.b.example.com")) == nil)
            try stored.remove(DomainName("example.com"))
            #expect(try stored.all().isEmpty)
            let missing = #expect(throws: KeychainError.self) { try stored.remove(DomainName("example.com")) }
            #expect(missing?.status == .itemNotFound)
            try Self.store([1, 2, 3], account: "example.com")
            #expect(throws: KeychainError.self) { try stored.all() }
            try stored.remove(DomainName("example.com"))
            #expect(try stored.all().isEmpty)
        }
    }

    @Test("SPIN-5: a required host without pins is an error")
    func required() throws {
        try withKeychain(.ephemeral) { _ in
            try StoredPins().add(Self.record("example.com"))
            let configuration = try StoredPins().configuration(requiring: ["example.com", "api.example.com"])
            #expect(configuration.sets == [try Self.record("example.com").pinSet])
            for host in ["example.org", "a.b.example.com"] {
                let error = #expect(throws: KeychainError.self) {
                    try StoredPins().configuration(requiring: ["example.com", host])
                }
                #expect(error?.status == .itemNotFound && error?.problem.contains(host) == true)
            }
            let invalid = #expect(throws: KeychainError.self) {
                try StoredPins().configuration(requiring: ["*.example.com"])
            }
            #expect(invalid?.status == .param)
        }
    }

    @Test("SPIN-3: a record in the place of another domain is refused")
    func exchanged() throws {
        try withKeychain(.ephemeral) { _ in
            try Self.store(Self.record("attacker.example").encoded, account: "bank.example")
            let error = #expect(throws: KeychainError.self) { try StoredPins().configuration() }
            #expect(error?.status == .decode)
        }
    }

    @Test("SPIN-4: one damaged record refuses the whole configuration")
    func damaged() throws {
        try withKeychain(.ephemeral) { _ in
            try StoredPins().add(Self.record("good.example"))
            try Self.store([], account: "bad.example")
            let error = #expect(throws: KeychainError.self) { try StoredPins().configuration() }
            #expect(error?.status == .decode && error?.hint == "latchkey pin remove bad.example")
        }
    }

    @Test("SPIN-4: a damaged row refuses the whole configuration")
    func damagedRow() throws {
        try withKeychain(.onDisk) { keychain in
            try StoredPins().add(Self.record("bad.example"))
            let directory = try #require(keychain.directory)
            keychain.service.close()
            try directory.runSQL("UPDATE item SET secret = zeroblob(length(secret))")
            let again = try TestKeychain(in: directory, clock: keychain.clock)
            try again.run(groups: ["G1", "G2"]) {
                try StoredPins().add(Self.record("good.example"))
                let error = #expect(throws: KeychainError.self) { try StoredPins().configuration() }
                #expect(error?.status == .decode && error?.hint == "latchkey doctor shows the damage")
            }
        }
    }

    @Test("SPIN-6: pins of one domain in two groups are refused")
    func groups() throws {
        try withKeychain(.ephemeral) { _ in
            try StoredPins(accessGroup: "G1").add(Self.record("example.com"))
            try StoredPins(accessGroup: "G2").add(Self.record("example.com", [7]))
            let error = #expect(throws: KeychainError.self) { try StoredPins().configuration() }
            #expect(error?.status == .param)
            let host = try DomainName("example.com")
            #expect(throws: KeychainError.self) { try StoredPins().pins(for: host) }
            #expect(try StoredPins(accessGroup: "G2").pins(for: host) == Self.record("example.com", [7]))
            #expect(try StoredPins(accessGroup: "G2").configuration().sets.count == 1)
        }
    }
}
