// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import Foundation
import KeychainModel
import SecretMemory
import Testing

/// Keys of files, and the keys that wrap them.
@Suite struct FileKeyTests {
    private func binding(
        _ protection: FileProtectionClass, generation: UInt32 = 1, file: UInt8 = 7,
        group: AccessGroup = AccessGroup("G", grade: .claimed)
    ) throws -> FileKeyRecord.Binding {
        try #require(
            FileKeyRecord.Binding(
                keychain: Array(0..<16), protection: protection, generation: generation,
                file: [UInt8](repeating: file, count: 16), group: group))
    }

    @Test("A wrapped key opens with its class key and its binding alone", arguments: FileProtectionClass.allCases)
    func wrapping(_ protection: FileProtectionClass) throws {
        let classKey = FileClassKey.random(protection)
        let secret = SharedSecret(.random(count: 32))
        let record = try #require(classKey.wrap(secret, try binding(protection)))
        #expect(classKey.unwrap(record) == secret)
        #expect(FileClassKey.random(protection).unwrap(record) == nil)
        let others = [
            try binding(protection, generation: 2), try binding(protection, file: 8),
            try binding(protection, group: AccessGroup("H", grade: .claimed)),
            try binding(protection, group: AccessGroup("G", grade: .attested)),
        ]
        for other in others {
            let moved = try #require(
                FileKeyRecord(other, ephemeralKey: record.ephemeralKey, wrappedKey: record.wrappedKey))
            #expect(classKey.unwrap(moved) == nil)
        }
        for other in FileProtectionClass.allCases where other != protection {
            #expect(FileClassKey.random(other).unwrap(record) == nil)
            #expect(classKey.wrap(secret, try binding(other)) == nil)
        }
        for index in record.wrappedKey.indices {
            var changed = record.wrappedKey
            changed[index] ^= 1
            let damaged = try #require(
                FileKeyRecord(record.binding, ephemeralKey: record.ephemeralKey, wrappedKey: changed))
            #expect(classKey.unwrap(damaged) == nil)
        }
        for index in record.ephemeralKey.indices {
            var changed = record.ephemeralKey
            changed[index] ^= 1
            let damaged = try #require(
                FileKeyRecord(record.binding, ephemeralKey: changed, wrappedKey: record.wrappedKey))
            #expect(classKey.unwrap(damaged) == nil)
        }
    }

    @Test("Every file has a key of its own, and of class B an ephemeral key of its own")
    func freshKeys() throws {
        let keys = MemoryFileKeys()
        let records = try (0..<20).map { _ in try keys.newKey(.completeUnlessOpen, group: nil).record }
        #expect(Set(records.map(\.ephemeralKey)).count == 20)
        #expect(Set(records.map(\.binding.file)).count == 20)
        let publicKey = try #require(FileClassKey.random(.completeUnlessOpen).publicKey)
        let (secret, bound) = (SharedSecret(.random(count: 32)), try binding(.completeUnlessOpen))
        #expect(publicKey.wrap(secret, bound)?.ephemeralKey != publicKey.wrap(secret, bound)?.ephemeralKey)
        #expect(FileClassPublicKey([UInt8](repeating: 4, count: 65)) == nil)
    }

    @Test("A key record of another form is refused")
    func records() throws {
        let record = try Sample.record()
        let bytes = record.encoded
        #expect(FileKeyRecord(decoding: bytes) == record)
        for count in bytes.indices { #expect(FileKeyRecord(decoding: Array(bytes[..<count])) == nil) }
        #expect(FileKeyRecord(decoding: bytes + [0]) == nil)
        // The class, the grade, and the length of the name.
        for (position, values) in [(16, [0, 2, 5, 255]), (37, [0, 3, 4]), (38, [1, 255])] as [(Int, [UInt8])] {
            for value in values {
                var changed = bytes
                changed[position] = value
                #expect(FileKeyRecord(decoding: changed) == nil, "\(position): \(value)")
            }
        }
        #expect(
            FileKeyRecord.Binding(
                keychain: Array(0..<16), protection: .none, generation: 1, file: Array(0..<16), group: .files) == nil)
        for name in ["", String(repeating: "x", count: 513)] {
            #expect(
                FileKeyRecord.Binding(
                    keychain: Array(0..<16), protection: .none, generation: 1, file: Array(0..<16),
                    group: AccessGroup(name, grade: .claimed)) == nil)
        }
    }

    @Test("A hole with a seal is refused")
    func holes() throws {
        let hole = ChunkReference.hole.encoded
        #expect(ChunkReference.decode(hole) == [.hole])
        for index in 4..<32 {
            var changed = hole
            changed[index] = 1
            #expect(ChunkReference.decode(changed) == nil)
        }
        #expect(ChunkReference.decode(Array(hole.dropLast())) == nil)
    }
}
