// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import SecretMemory
import SecurityKey
import Testing

@Suite("Stored credential of a security key")
struct SecurityKeyCredentialTests {
    /// A point of P-256: the generator.
    static let publicKey: [UInt8] = bytes(
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
            + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")

    private static func credential(
        idCount: Int = 4, _ verification: UserVerification = .pin, provesWithoutPIN: Bool = true
    ) throws -> SecurityKeyCredential {
        try SecurityKeyCredential(
            id: [UInt8](repeating: 0xAB, count: idCount), publicKey: publicKey, salt: [UInt8](0..<32),
            verification: verification, provesWithoutPIN: provesWithoutPIN)
    }

    @Test(
        "The stored form is LKFIDO, version 1, verification, identifier, public key and salt",
        arguments: [(0, UserVerification.touch, true), (1, .pin, true), (2, .pin, false)])
    func layout(code: UInt8, verification: UserVerification, provesWithoutPIN: Bool) throws {
        let expected =
            bytes("4c4b4649444f 0001") + [code] + bytes("0004 abababab") + Self.publicKey + [UInt8](0..<32)
        let credential = try Self.credential(verification, provesWithoutPIN: provesWithoutPIN)
        #expect(credential.encoded == expected)
        let decoded = try SecurityKeyCredential(decoding: expected)
        #expect(decoded == credential)
        #expect(decoded.verification == verification && decoded.provesWithoutPIN == provesWithoutPIN)
        #expect(decoded.withNewSalt().provesWithoutPIN == provesWithoutPIN)
    }

    @Test("A credential for a touch sends no PIN, so it needs no proof")
    func touch() throws {
        #expect(try Self.credential(.touch, provesWithoutPIN: false) == Self.credential(.touch))
    }

    @Test("Credentials of every permitted length are read as they were written", arguments: [1, 48, 255, 256, 1023])
    func lengths(_ count: Int) throws {
        let credential = try Self.credential(idCount: count)
        #expect(credential.encoded.count <= SecurityKeyCredential.maxEncodedCount)
        #expect(try SecurityKeyCredential(decoding: credential.encoded) == credential)
    }

    @Test("An identifier must have 1 to 1023 bytes, a salt 32, and a public key must be a point", arguments: [0, 1024])
    func limits(_ count: Int) throws {
        #expect(throws: SecurityKeyError.self) { _ = try Self.credential(idCount: count) }
        for salt in [[], [UInt8](0..<31), [UInt8](0..<33)] {
            #expect(throws: SecurityKeyError.self) {
                _ = try SecurityKeyCredential(id: [1], publicKey: Self.publicKey, salt: salt, verification: .touch)
            }
        }
        var moved = Self.publicKey
        moved[63] ^= 1
        for key in [
            [], Array(Self.publicKey.dropLast()), [4] + Self.publicKey, moved, [UInt8](repeating: 0, count: 64),
        ] {
            #expect(throws: SecurityKeyError.credentialDamaged("its public key is not a point of P-256")) {
                _ = try SecurityKeyCredential(id: [1], publicKey: key, salt: [UInt8](0..<32), verification: .touch)
            }
        }
    }

    @Test("A stored form that ends early, or goes on after its end, is damaged")
    func truncated() throws {
        let encoded = try Self.credential().encoded
        for count in encoded.indices {
            #expect(throws: SecurityKeyError.self, "\(count)") {
                _ = try SecurityKeyCredential(decoding: encoded.prefix(count))
            }
        }
        #expect(throws: SecurityKeyError.credentialDamaged("there are bytes after its salt")) {
            _ = try SecurityKeyCredential(decoding: encoded + [0])
        }
        #expect(throws: SecurityKeyError.self) {
            _ = try SecurityKeyCredential(decoding: [UInt8](repeating: 0, count: 1 << 20))
        }
    }

    @Test(
        "A wrong field is named",
        arguments: [
            (0, 0x4D, SecurityKeyError.credentialDamaged("it does not begin with LKFIDO")),
            (7, 2, .newerCredential(found: 2, known: 1)),
            (6, 1, .newerCredential(found: 257, known: 1)),
            (8, 3, .credentialDamaged("its verification is unknown")),
            (9, 4, .credentialDamaged("its identifier has 1028 bytes, expected 1 to 1023")),
            (10, 0, .credentialDamaged("its identifier has 0 bytes, expected 1 to 1023")),
            (10, 3, .credentialDamaged("there are bytes after its salt")),
            (10, 5, .credentialDamaged("it ends within the salt")),
            (20, 0, .credentialDamaged("its public key is not a point of P-256")),
        ] as [(Int, UInt8, SecurityKeyError)])
    func fields(position: Int, byte: UInt8, error: SecurityKeyError) throws {
        var encoded = try Self.credential().encoded
        encoded[position] = byte
        #expect(throws: error) { _ = try SecurityKeyCredential(decoding: encoded) }
    }

    @Test("Every error has a text, and no text contains a PIN or a secret")
    func texts() {
        let errors: [SecurityKeyError] = [
            .notConnected(path: "/dev/hidraw0"), .accessDenied(path: "/dev/hidraw0"), .busy(path: "/dev/hidraw0"),
            .notFIDO2, .hmacSecretUnsupported, .otherDevice, .noTouch, .denied, .cancelled, .pinRequired,
            .wrongPIN(retries: 3), .wrongPIN(retries: nil), .pinPaused, .pinBlocked, .pinNotSet, .pinChangeRequired,
            .invalidPIN, .notResponding, .connectionFailed, .invalidAnswer("x"), .wrongSignature, .presenceNotTested,
            .pinNotTested, .userVerified, .proofRefused, .refused(status: 1), .credentialDamaged("x"),
            .newerCredential(found: 2, known: 1), .outOfMemory, .libraryFailed(-9),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(String(describing: try? pin("123456")).contains("redacted"))
        #expect(!String(reflecting: try? pin("123456")).contains("123456"))
    }
}

/// The bytes of hexadecimal digits.
private func bytes(_ digits: String) -> [UInt8] {
    Hexadecimal.bytes(digits.utf8.filter { Hexadecimal.value(of: $0) != nil }) ?? []
}
