// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
import SecretMemory
import Testing

/// Security keys in the keybag record.
@Suite("Enrollment of security keys")
struct SecurityKeyEnrollmentTests {
    private static let credential: [UInt8] = Array(0..<200)

    private static func enrollment(
        credential: [UInt8] = credential, name: String = "grüner Schlüssel", created: Double = 12.5
    ) throws -> SecurityKeyEnrollment {
        try SecurityKeyEnrollment(credential: credential, alwaysVerifies: true, name: name, created: created)
    }

    /// A record with one security key of each kind.
    private static func record() throws -> KeybagRecord {
        let key = DeviceKey.ephemeral()
        var record = try KeybagRecord(decoding: try DeviceKeybag.create(deviceKey: key).record)
        for (kind, credential) in [(PresenceIdentity.Kind.securityKey, [1]), (.presentSecurityKey, Self.credential)] {
            let enrollment = try enrollment(credential: credential)
            let identity = PresenceIdentity(kind: kind, generation: 7, credential: enrollment.identifier.bytes)
            let kek = KeyEncryptionKey(device: key, securityKey: SharedSecret(copying: Array(0..<32)))
            var pair = try PresencePair.generate(identity, under: kek, of: record.keychain)
            pair.enrollment = enrollment
            record.pairs.append(pair)
        }
        return record
    }

    @Test("A record with a security key decodes to the same record; changed fields are refused by name")
    func coding() throws {
        let record = try Self.record()
        let bytes = record.encoded
        #expect(try KeybagRecord(decoding: bytes) == record)
        let prefixes = (0..<bytes.count).filter { (try? KeybagRecord(decoding: Array(bytes.prefix($0)))) != nil }
        #expect(prefixes.isEmpty)
        func expectRefused(_ reason: String, _ change: (inout KeybagRecord) throws -> Void) throws {
            var changed = record
            try change(&changed)
            #expect {
                _ = try KeybagRecord(decoding: changed.encoded)
            } throws: { error in
                if case KeybagError.damaged(let found) = error { found.contains(reason) } else { false }
            }
        }
        try expectRefused("does not match its presence key") {
            $0.pairs[1].enrollment = try Self.enrollment(credential: [2])
        }
        try expectRefused("different ones") { record in
            // The same credential as a key of the other kind.
            var pair = record.pairs[1]
            pair.identity.kind = .securityKey
            record.pairs.append(pair)
        }
        try expectRefused("expected at most 8") { record in
            for number in 2..<9 {
                var pair = record.pairs[1]
                let enrollment = try Self.enrollment(credential: [UInt8(number)])
                pair.enrollment = enrollment
                pair.identity.credential = enrollment.identifier.bytes
                record.pairs.append(pair)
            }
        }
        try expectRefused("unknown wrapping") { $0.pairs[0].wrapped[0].wrapping = .user }
        try expectRefused("it ends before") { $0.pairs[1].enrollment = nil }
        // The flag of the shares is before the number of pairs.
        var flagged = record
        flagged.hasOutdatedShares = true
        #expect(try KeybagRecord(decoding: flagged.encoded) == flagged)
        let position = zip(bytes, flagged.encoded).enumerated().first { $1.0 != $1.1 }?.offset
        var unknown = bytes
        unknown[try #require(position)] = 2
        #expect(throws: KeybagError.self) { _ = try KeybagRecord(decoding: unknown) }
    }

    @Test("Any changed byte of an enrollment is damage or another record, and never traps")
    func everyByte() throws {
        let record = try Self.record()
        let bytes = record.encoded
        for index in bytes.indices {
            for bit in [UInt8(1), 0x80] {
                var changed = bytes
                changed[index] ^= bit
                if let decoded = try? KeybagRecord(decoding: changed) { #expect(decoded != record, "byte \(index)") }
            }
        }
    }

    @Test(
        "An enrollment has limits",
        arguments: [
            ([], "key", 0), (Array(repeating: 1, count: 2049), "key", 0), ([1], "", 0),
            ([1], String(repeating: "k", count: 129), 0), ([1], "line\nbreak", 0), ([1], "\u{9B}31m", 0),
            ([1], "key", .infinity), ([1], "key", .nan),
        ] as [([UInt8], String, Double)])
    func limits(_ credential: [UInt8], _ name: String, _ created: Double) throws {
        #expect {
            _ = try Self.enrollment(credential: credential, name: name, created: created)
        } throws: { error in
            if case KeybagError.unusableSecurityKey = error { true } else { false }
        }
    }

    @Test("The identifier of a key is the digest of its credential")
    func identifier() throws {
        let identifier = try Self.enrollment(credential: Array("abc".utf8)).identifier
        // FIPS 180-4: the digest of "abc".
        #expect(identifier.bytes.prefix(4) == [0xBA, 0x78, 0x16, 0xBF] && identifier.bytes.count == 32)
        #expect(SecurityKeyIdentifier(bytes: identifier.bytes) == identifier)
        #expect(SecurityKeyIdentifier(bytes: Array(identifier.bytes.dropLast())) == nil)
    }
}
