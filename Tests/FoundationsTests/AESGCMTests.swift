// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LinuxSystem
import OpenSSLCrypto
import SecretMemory
import Testing

/// AES-GCM against another implementation, and everything that must not open.
@Suite("AES-GCM of libcrypto") struct AESGCMTests {
    private let plaintext: [UInt8] = Array(0..<70)
    private let additionalData: [UInt8] = Array("row half".utf8)

    @Test("It seals and opens as swift-crypto does, for every length to 130 bytes")
    func agreesWithSwiftCrypto() throws {
        for count in 0...130 {
            for keyCount in [16, 32] {
                let key = random(keyCount)
                let (nonce, text, data) = (random(12), random(count), random(count % 40))
                let expected = try AES.GCM.seal(
                    text, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce), authenticating: data)
                let sealed = try seal(text, key: key, vector: nonce, authenticating: data)
                #expect(sealed == Array(expected.ciphertext + expected.tag))
                #expect(try open(sealed, key: key, vector: nonce, authenticating: data) == text)
            }
        }
    }

    /// The test cases 17 and 18 of the specification of GCM: vectors of 8 and of 60 bytes.
    @Test(
        "Vectors of 8 and 60 bytes",
        arguments: [
            ("cafebabefacedbad", "3a337dbf46a792c45e454913fe2ea8f2"),
            (
                "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728"
                    + "c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b",
                "a44a8266ee1c8eb0c8b5d4cf5ae9f19a"
            ),
        ])
    func vectorsOfOtherLengths(vector: String, tag: String) throws {
        let key = try bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let text = try bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
        let data = try bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let sealed = try seal(text, key: key, vector: bytes(vector), authenticating: data)
        #expect(try Array(sealed.suffix(AESGCM.tagLength)) == bytes(tag))
        #expect(try open(sealed, key: key, vector: bytes(vector), authenticating: data) == text)
    }

    @Test("A changed or truncated message, vector, key or additional data does not open", arguments: [12, 16])
    func nothingChangedOpens(vectorLength: Int) throws {
        let (key, vector) = (random(32), random(vectorLength))
        let sealed = try seal(plaintext, key: key, vector: vector, authenticating: additionalData)
        for index in sealed.indices {
            let opened = try open(changed(sealed, at: index), key: key, vector: vector, authenticating: additionalData)
            #expect(opened == nil)
        }
        for index in vector.indices {
            let opened = try open(sealed, key: key, vector: changed(vector, at: index), authenticating: additionalData)
            #expect(opened == nil)
        }
        for index in additionalData.indices {
            let data = changed(additionalData, at: index)
            #expect(try open(sealed, key: key, vector: vector, authenticating: data) == nil)
        }
        #expect(try open(sealed, key: changed(key, at: 0), vector: vector, authenticating: additionalData) == nil)
        for count in 0..<sealed.count {
            let opened = try open(
                Array(sealed.prefix(count)), key: key, vector: vector, authenticating: additionalData)
            #expect(opened == nil)
        }
        #expect(try open(sealed, key: key, vector: vector, authenticating: additionalData) == plaintext)
    }

    @Test("A key or vector of an invalid length is an error")
    func invalidLengthsAreErrors() throws {
        for count in [0, 15, 24, 33] {
            #expect(throws: OpenSSLError.self) { try seal(plaintext, key: random(count), vector: random(12)) }
        }
        #expect(throws: OpenSSLError.self) { try seal(plaintext, key: random(32), vector: []) }
    }

    // MARK: Calls

    private func seal(
        _ text: [UInt8], key: [UInt8], vector: [UInt8], authenticating data: [UInt8] = []
    ) throws -> [UInt8] {
        try text.withUnsafeBytes { text in
            try key.withUnsafeBytes { key in
                try vector.withUnsafeBytes { try AESGCM.seal(text, key: key, vector: $0, authenticating: data) }
            }
        }
    }

    private func open(
        _ sealed: [UInt8], key: [UInt8], vector: [UInt8], authenticating data: [UInt8]
    ) throws -> [UInt8]? {
        try sealed.withUnsafeBytes { sealed in
            try key.withUnsafeBytes { key in
                try vector.withUnsafeBytes { vector in
                    try AESGCM.open(sealed, key: key, vector: vector, authenticating: data)?
                        .withUnsafeBytes { Array($0) }
                }
            }
        }
    }

    private func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

    private func changed(_ bytes: [UInt8], at index: Int) -> [UInt8] {
        var bytes = bytes
        bytes[index] ^= 0x40
        return bytes
    }

    private func bytes(_ digits: String) throws -> [UInt8] { try #require(Hexadecimal.bytes(digits.utf8)) }
}
