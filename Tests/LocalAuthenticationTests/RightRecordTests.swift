// SPDX-License-Identifier: Apache-2.0

import KeychainModel
@testable import LocalAuthentication
import Testing

@Suite("Records of rights")
struct RightRecordTests {
    static let records: [RightRecord] = LAAuthenticationRequirement.Kind.allCases.flatMap { kind in
        [Int64.min, -1, 0, 1, .max].flatMap { tag in
            [nil, PersistentReference(.genericPassword, .random())].map { secret in
                RightRecord(
                    requirement: kind, tag: tag, publicKey: [4] + [UInt8](repeating: 7, count: 64),
                    key: PersistentReference(.key, .random()), secret: secret)
            }
        }
    }

    @Test("A record is read as it was written")
    func roundTrip() {
        for record in Self.records { #expect(RightRecord(bytes: record.bytes) == record) }
    }

    @Test("Each part of a record is at its place")
    func layout() throws {
        let key = PersistentReference(.key, .random())
        let record = RightRecord(
            requirement: .biometry, tag: 0x0102, publicKey: [4] + [UInt8](repeating: 7, count: 64), key: key)
        let expected: [UInt8] = [1, 1, 0, 0, 0, 0, 0, 0, 1, 2, 4] + [UInt8](repeating: 7, count: 64) + key.bytes
        #expect(record.bytes == expected)
    }

    @Test("Every beginning of a record, and a record with more behind it, is refused")
    func lengths() {
        for record in Self.records.suffix(2) {
            let bytes = record.bytes
            for count in 0..<bytes.count {
                let read = RightRecord(bytes: Array(bytes.prefix(count)))
                // The beginning of a record with a secret is a record without one.
                if count == 95 { #expect(read?.secret == nil) } else { #expect(read == nil, "\(count)") }
            }
            if record.secret != nil { #expect(RightRecord(bytes: bytes + [0]) == nil) }
        }
    }

    @Test("Every changed byte gives another record or none, and never a trap")
    func changes() {
        for record in Self.records.suffix(2) {
            for index in record.bytes.indices {
                for change in [1, 0x80, 0xff] as [UInt8] {
                    var bytes = record.bytes
                    bytes[index] ^= change
                    #expect(RightRecord(bytes: bytes) != record)
                }
            }
        }
    }

    @Test("A reference to an item of another class is refused")
    func classes() throws {
        var record = try #require(Self.records.last)
        record.key = PersistentReference(.certificate, .random())
        #expect(RightRecord(bytes: record.bytes) == nil)
        record.key = PersistentReference(.key, .random())
        record.secret = PersistentReference(.key, .random())
        #expect(RightRecord(bytes: record.bytes) == nil)
    }
}
