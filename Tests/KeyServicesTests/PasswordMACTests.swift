// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import KeyServices
import LinuxSystem
import SecretMemory
import Testing

/// PKCS #12 with PBMAC1 (RFC 9579). openssl 3.0 (of Debian 12) does not know it, so its PBKDF2 and its HMAC calculate
/// each code independently, in place of the files in the RFC's appendix.
@Suite("PKCS #12 with PBMAC1")
struct PasswordMACTests {
    private let openssl: OpenSSL
    private let key: SoftwareKey
    /// A file without an integrity check.
    private let plain: [UInt8]

    init() throws {
        openssl = try OpenSSL()
        key = try #require(SampleKeys.p256)
        plain = try Self.file(key, openssl)
    }

    private static func file(_ key: SoftwareKey, _ openssl: OpenSSL, _ words: [String] = []) throws -> [UInt8] {
        try openssl.output(
            [
                "pkcs12", "-export", "-nocerts", "-nomac", "-passout", "pass:pässword", "-inkey",
                openssl.file(.privateKey(key)),
            ] + words)
    }

    /// The parameters of a code.
    struct Parameters: Sendable {
        var salt: [UInt8] = Array("a salt of 17 byte".utf8)
        var iterations: [UInt8] = [0x08, 0x00]
        var keyLength: [UInt8]? = [32]
        /// The last arc of `1.2.840.113549.2`: 7 to 11 are HMAC with SHA-1 to SHA-512.
        var derivationHash: UInt8? = 9
        var hash: UInt8 = 9
        var derivation: UInt8 = 0x0C
        var saltTag: UInt8 = 0x04

        fileprivate var keyByteCount: Int { keyLength.map { $0.reduce(0) { $0 << 8 | Int($1) } } ?? 20 }

        fileprivate var algorithm: [UInt8] {
            let prf = derivationHash.map(Self.hmac) ?? []
            let length = keyLength.map { DER.element(0x02, $0) } ?? []
            let pbkdf2 = DER.element(
                0x30,
                DER.element(saltTag, salt) + DER.element(0x02, iterations) + length + prf)
            return DER.element(
                0x30,
                DER.element(0x06, DER.pkcs5 + [0x0E])
                    + DER.element(
                        0x30, DER.element(0x30, DER.element(0x06, DER.pkcs5 + [derivation]) + pbkdf2) + Self.hmac(hash))
            )
        }

        private static func hmac(_ arc: UInt8) -> [UInt8] {
            DER.element(0x30, DER.element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, arc]) + [0x05, 0x00])
        }
    }

    /// openssl's code of a message.
    private func code(_ message: [UInt8], _ parameters: Parameters, _ passphrase: String) throws -> [UInt8] {
        let names: [UInt8: String] = [7: "SHA1", 8: "SHA224", 9: "SHA256", 10: "SHA384", 11: "SHA512"]
        let iterations = parameters.iterations.reduce(0) { $0 << 8 | Int($1) }
        let derived = try openssl.output([
            "kdf", "-binary", "-keylen", "\(parameters.keyByteCount)", "-kdfopt",
            "digest:\(names[parameters.derivationHash ?? 7] ?? "SHA256")", "-kdfopt", "pass:\(passphrase)", "-kdfopt",
            "hexsalt:\(Hexadecimal.text(parameters.salt))", "-kdfopt", "iter:\(iterations)", "PBKDF2",
        ])
        return try openssl.output([
            "dgst", "-\(names[parameters.hash] ?? "SHA256")", "-mac", "HMAC", "-macopt",
            "hexkey:\(Hexadecimal.text(derived))",
            "-binary",
            openssl.file(message),
        ])
    }

    /// The file with a code; `computed` are the parameters of the code, if the file names others.
    private func file(
        _ parameters: Parameters, computed: Parameters? = nil, of plain: [UInt8]? = nil
    ) throws -> [UInt8] {
        let members = try #require(DER.members(plain ?? self.plain))
        let info = try #require(DER.members(members[1].encoded))
        let octets = try #require(DER.members(info[1].encoded)?.first)
        let code = try code(octets.content, computed ?? parameters, "pässword")
        let digest = DER.element(0x30, parameters.algorithm + DER.element(0x04, code))
        let mac = DER.element(0x30, digest + DER.element(0x04, Array("NOT USED".utf8)))
        return DER.element(0x30, members.flatMap(\.encoded) + mac)
    }

    /// Why the file is not read; nil if it is, with its key.
    private func status(_ bytes: [UInt8], passphrase: String = "pässword") throws -> OSStatusCode? {
        let secret = SharedSecret(copying: passphrase.utf8)
        do {
            let file = try bytes.withUnsafeBytes { try PKCS12File(reading: $0, passphrase: secret) }
            #expect(file.keys.first?.key.publicKey.external == key.publicKey.external)
            return nil
        } catch let error as KeychainError { return error.status }
    }

    @Test(
        "A file is read with each hash function and key length",
        arguments: [
            Parameters(), Parameters(derivationHash: 11, hash: 9),
            Parameters(keyLength: [64], derivationHash: 11, hash: 11),
            Parameters(keyLength: [48], derivationHash: 10, hash: 10),
            Parameters(keyLength: [20], derivationHash: nil, hash: 7), Parameters(derivationHash: 8, hash: 10),
            Parameters(derivationHash: 10, hash: 8), Parameters(salt: [], iterations: [1]),
            Parameters(salt: [UInt8](repeating: 7, count: 300)),
        ])
    func read(_ parameters: Parameters) throws {
        let file = try file(parameters)
        #expect(try status(file) == nil)
        #expect(try status(file, passphrase: "password") == .authFailed)
    }

    @Test("An unencrypted key is read from a file with a code, and the code is verified")
    func plainKey() throws {
        let whole = try file(Parameters(), of: Self.file(key, openssl, ["-keypbe", "NONE"]))
        let scalar = try key.external().withUnsafeBytes { Array($0.suffix(32)) }
        let place = try #require(whole.indices.first { whole[$0...].starts(with: scalar) })
        #expect(try status(whole) == nil && status(whole, passphrase: "password") == .authFailed)
        var changed = whole
        changed[place] ^= 1
        #expect(try status(changed) == .authFailed)
    }

    @Test("Entries of PKCS #12 that are no keys and certificates are named")
    func otherEntries() throws {
        // A bag's type is 1.2.840.113549.1.12.10.1.n.
        func bag(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
            let type = DER.element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, kind])
            return DER.element(0x30, type + DER.element(0xA0, content))
        }
        func data(_ content: [UInt8]) -> [UInt8] {
            let type = DER.element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
            return DER.element(0x30, type + DER.element(0xA0, DER.element(0x04, content)))
        }
        let secret = DER.element(0x30, DER.element(0x06, [0x2A, 0x03]) + DER.element(0xA0, DER.element(0x04, [1])))
        let key = try KeyFile.write(.privateKey(key), as: .pkcs8, isPEM: false).bytes
        let bags = bag(5, secret) + bag(1, key) + bag(5, secret) + bag(4, secret)
        let bytes = DER.element(
            0x30, DER.element(0x02, [3]) + data(DER.element(0x30, data(DER.element(0x30, bags)))))
        let file = try bytes.withUnsafeBytes { try PKCS12File(reading: $0, passphrase: nil) }
        #expect(file.keys.count == 1)
        #expect(file.notes == ["secrets of applications were skipped", "revocation lists were skipped"])
    }

    @Test("A changed content, code, salt or number of iterations is a wrong passphrase")
    func changed() throws {
        let whole = try file(Parameters())
        #expect(try status(file(Parameters(), computed: Parameters(salt: [1]))) == .authFailed)
        #expect(try status(file(Parameters(), computed: Parameters(iterations: [1]))) == .authFailed)
        #expect(try status(file(Parameters(), computed: Parameters(derivationHash: 11))) == .authFailed)
        // The last byte of the code, and one of the encrypted key.
        for place in [whole.count - 11, 200] {
            var bytes = whole
            bytes[place] ^= 1
            #expect(try status(bytes) == .authFailed)
        }
        // A code of another length.
        #expect(try status(file(Parameters(hash: 9), computed: Parameters(hash: 7))) == .authFailed)
    }

    @Test(
        "Unknown functions, lengths outside of 20 to 64 bytes and too many iterations are refused before any derivation",
        arguments: [
            Parameters(derivationHash: 12), Parameters(hash: 12), Parameters(hash: 6), Parameters(derivation: 0x0D),
            Parameters(keyLength: nil), Parameters(keyLength: [19]), Parameters(keyLength: [0]),
            Parameters(keyLength: [65]),
            Parameters(keyLength: [0x7F, 0xFF, 0xFF, 0xFF]), Parameters(keyLength: [0xFF]), Parameters(saltTag: 0x05),
            Parameters(iterations: [0]), Parameters(iterations: [0xFF]),
            Parameters(iterations: [0x00, 0x80, 0x00, 0x00]),
            Parameters(iterations: [0x7F, 0xFF, 0xFF, 0xFF]),
            Parameters(iterations: [0x7F] + [UInt8](repeating: 0, count: 16)),
            // More blocks than the iterations of one file may have.
            Parameters(iterations: [0x4C, 0x4B, 0x40], keyLength: [64], derivationHash: nil, saltTag: 0x30),
        ])
    func refused(_ parameters: Parameters) throws {
        let found = try status(file(parameters, computed: Parameters()))
        #expect(found == .unimplemented || found == .decode, "\(String(describing: found))")
    }

    @Test("A file that is cut off anywhere in its integrity check is not accepted")
    func truncated() throws {
        let members = try #require(DER.members(file(Parameters())))
        let (front, mac) = (members.dropLast().flatMap(\.encoded), try #require(members.last))
        for count in 0..<mac.content.count {
            let bytes = DER.element(0x30, front + DER.element(0x30, Array(mac.content.prefix(count))))
            #expect(try status(bytes) != nil)
        }
    }

    @Test("A written file has a code that openssl calculates as well, and is read again")
    func written() throws {
        let file = PKCS12File(certificates: [], keys: [.init(key: key, label: "key")])
        let secret = try file.written(under: SharedSecret(copying: "pässword".utf8), as: .pbmac1) { _ in nil }
        // EXPOSE: the key is a sample.
        let bytes = secret.withUnsafeBytes { Array($0) }
        #expect(try status(bytes) == nil && status(bytes, passphrase: "other") == .authFailed)
        let members = try #require(DER.members(bytes))
        try #require(members.count == 3)
        let digest = try #require(DER.members(members[2].encoded)?.first.flatMap { DER.members($0.encoded) })
        let pbkdf2 = try #require(
            DER.members(digest[0].encoded).flatMap { DER.members($0[1].encoded) }.flatMap { DER.members($0[0].encoded) }
                .flatMap { DER.members($0[1].encoded) })
        let parameters = Parameters(
            salt: pbkdf2[0].content, iterations: pbkdf2[1].content, keyLength: pbkdf2[2].content)
        #expect(parameters.keyByteCount == 32 && parameters.salt.count == 16)
        #expect(digest[0].encoded == parameters.algorithm)
        let octets = try #require(DER.members(members[1].encoded).flatMap { DER.members($0[1].encoded) }?.first)
        #expect(try digest[1].content == code(octets.content, parameters, "pässword"))
        // Each file has a salt of its own.
        let again = try file.written(under: SharedSecret(copying: "pässword".utf8), as: .pbmac1) { _ in nil }
        #expect(again.withUnsafeBytes { Array($0) } != bytes)
    }
}

/// DER for these tests.
private enum DER {
    static let pkcs5: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05]

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let (high, low) = (UInt8(content.count >> 8), UInt8(content.count & 0xFF))
        let length = content.count < 0x80 ? [low] : high == 0 ? [0x81, low] : [0x82, high, low]
        return [tag] + length + content
    }

    /// The elements inside of an element; nil if they are not complete.
    static func members(_ bytes: [UInt8]) -> [(encoded: [UInt8], content: [UInt8])]? {
        guard let (whole, rest) = first(bytes[...]), rest.isEmpty else { return nil }
        var (members, left): ([(encoded: [UInt8], content: [UInt8])], ArraySlice<UInt8>) = ([], whole.content[...])
        while !left.isEmpty {
            guard let (member, rest) = first(left) else { return nil }
            members.append(member)
            left = rest
        }
        return members
    }

    private static func first(
        _ bytes: ArraySlice<UInt8>
    ) -> (element: (encoded: [UInt8], content: [UInt8]), rest: ArraySlice<UInt8>)? {
        guard bytes.count >= 2, let start = bytes.indices.first else { return nil }
        let second = Int(bytes[start + 1])
        let digits = second < 0x80 ? 0 : second & 0x7F
        guard bytes.count >= 2 + digits else { return nil }
        let length = digits == 0 ? second : bytes[(start + 2)..<(start + 2 + digits)].reduce(0) { $0 << 8 | Int($1) }
        let end = start + 2 + digits + length
        guard end <= bytes.endIndex else { return nil }
        return ((Array(bytes[start..<end]), Array(bytes[(start + 2 + digits)..<end])), bytes[end...])
    }
}
