// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LinuxSystem
import Testing

import Latchkey
@testable import LatchkeyPayloads

/// Documentation/Formats/file-seal.md.
@Suite("Seals of files")
struct FileSealTests {
    private let directory: TemporaryDirectory
    private let content = Data("the content of a file".utf8)
    private let secret = Data((0..<32).map { UInt8($0) })

    init() throws { directory = try TemporaryDirectory() }

    private func file(_ content: Data, _ name: String = "file") throws -> String {
        let path = directory.path + "/" + name
        try content.write(to: URL(filePath: path))
        return path
    }

    private func status(_ body: () throws -> Void) throws -> Int {
        Int(try #require(throws: KeychainError.self) { try body() }.status.rawValue)
    }

    /// A key of each kind with its public half.
    private static func keys() throws -> [(FileSealKey, FileSealVerificationKey)] {
        let secret = Data((0..<32).map { UInt8($0) }).sharedSecret()
        let (curve, rsa) = (try P256SigningKey(), try RSAPrivateKey(bits: 2048))
        return [
            (.shared(secret), .shared(secret)), (.p256(curve), .p256(try curve.publicKey)),
            (.rsa(rsa), .rsa(try rsa.publicKey)),
        ]
    }

    @Test("A file that was sealed is verified, with each kind of key and any length")
    func roundTrip() throws {
        for (key, publicKey) in try Self.keys() {
            for count in [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20] {
                let path = try file(Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }))
                let seal = try FileSeal.seal(path, with: key, keyIdentifier: "release", context: "model")
                #expect(seal.algorithm == key.algorithm && seal.length == UInt64(count))
                let read = try FileSeal(encoded: seal.encoded)
                #expect(read == seal && read.keyIdentifier == "release")
                try read.verify(path, with: publicKey, context: "model")
            }
        }
    }

    @Test("A key of the keychain that cannot be extracted seals a file in parts")
    func keychainKey() throws {
        let key = try Keychain.ephemeral().generate(P256SigningKey.self, tag: "seals", isExtractable: false)
        var input = FileSealInput()
        input.update(content.prefix(7))
        input.update(content.dropFirst(7))
        let seal = try input.seal(with: .p256(key), keyIdentifier: "k")
        try seal.verify(file(content), with: .p256(key.publicKey))
        var other = FileSealInput()
        other.update(content.dropFirst(1))
        other.update(content.prefix(1))
        do {
            try other.verify(seal, with: .p256(key.publicKey))
            Issue.record("other content was verified")
        } catch {
            #expect(error.status == .verifyFailed)
        }
    }

    @Test("SEAL-1: a frozen seal has these bytes")
    func frozen() throws {
        let seal = try FileSeal.seal(
            file(content), with: .shared(secret.sharedSecret()), keyIdentifier: "key 1", context: "a context")
        #expect(Hexadecimal.text(seal.encoded) == Self.frozenSeal)
    }

    /// Computed with Python's hashlib and hmac from the page of the format.
    private static let frozenSeal =
        "4c4b46495345414c010b686d61632d736861323536056b657920310000000000000015b086f071107f21354228149d4c"
        + "b4562bf13caa937820e0a52ad69076146aba7738bb4eedbf4c8b36f01723b9a1772cec27756b18889494408d271e7f31"
        + "a0eb8600200fdb485df785c454e046a40a68bb4c076415d20ab7be8cab2bbcfdb803e9f188"

    @Test("SEAL-1: openssl verifies the signature of a seal, over the bytes before it and the context")
    func openssl() throws {
        let key = try RSAPrivateKey(bits: 2048)
        let seal = try FileSeal.seal(file(content), with: .rsa(key), keyIdentifier: "k", context: "use")
        let signed = Data(seal.encoded.dropLast(2 + 256)) + Data("use".utf8)
        let paths = (
            signed: try file(signed, "signed"), signature: try file(seal.encoded.suffix(256), "signature"),
            key: try file(Data(try key.publicKey.pem().utf8), "key")
        )
        let result = try OpenSSL().output([
            "dgst", "-sha512", "-verify", paths.key, "-signature", paths.signature, "-sigopt", "rsa_padding_mode:pss",
            "-sigopt", "rsa_pss_saltlen:64", paths.signed,
        ])
        #expect(String(decoding: result, as: UTF8.self).contains("Verified OK"))
    }

    @Test("SEAL-2: every flipped bit of a seal and every cut seal is refused")
    func flippedBits() throws {
        let path = try file(content)
        for (key, publicKey) in try Self.keys() {
            let encoded = try FileSeal.seal(path, with: key, keyIdentifier: "key 1").encoded
            for index in encoded.indices {
                for bit in 0..<8 {
                    var changed = encoded
                    changed[index] ^= 1 << bit
                    #expect(throws: KeychainError.self, "byte \(index), bit \(bit)") {
                        try FileSeal(encoded: changed).verify(path, with: publicKey)
                    }
                }
                #expect(try status { _ = try FileSeal(encoded: encoded.prefix(index)) } == -26275)
            }
        }
    }

    @Test("SEAL-2: another file, context or key is refused")
    func others() throws {
        for ((key, publicKey), (_, other)) in zip(try Self.keys(), try Self.otherKeys()) {
            let path = try file(content)
            let seal = try FileSeal.seal(path, with: key, keyIdentifier: "k", context: "use")
            #expect(try status { try seal.verify(path, with: publicKey) } == -67808)
            #expect(try status { try seal.verify(path, with: publicKey, context: "usE") } == -67808)
            #expect(try status { try seal.verify(path, with: other, context: "use") } == -67808)
            for changed in [content + [0], Data(content.dropLast()), Data(content.reversed()), Data()] {
                let path = try file(changed, "changed")
                #expect(try status { try seal.verify(path, with: publicKey, context: "use") } == -67808)
            }
            try seal.verify(path, with: publicKey, context: "use")
        }
    }

    private static func otherKeys() throws -> [(FileSealKey, FileSealVerificationKey)] {
        var keys = try keys()
        let secret = Data(repeating: 7, count: 32).sharedSecret()
        keys[0] = (.shared(secret), .shared(secret))
        return keys
    }

    @Test("SEAL-3: the key determines the algorithm")
    func algorithms() throws {
        let path = try file(content)
        let keys = try Self.keys()
        for (key, _) in keys {
            let seal = try FileSeal.seal(path, with: key, keyIdentifier: "k")
            for (_, publicKey) in keys where publicKey.algorithm != key.algorithm {
                #expect(try status { try seal.verify(path, with: publicKey) } == -50)
            }
        }
        // The public key is known to everyone, and must not become the secret of an HMAC.
        guard case .p256(let publicKey) = keys[1].1 else { return }
        let forged = try FileSeal.seal(path, with: .shared(publicKey.x963.sharedSecret()), keyIdentifier: "k")
        #expect(try status { try forged.verify(path, with: .p256(publicKey)) } == -50)
    }

    @Test(
        "SEAL-4: MD5, SHA-1 and bare hashes are refused with the reason",
        arguments: [
            ("md5", "a hash has no key"), ("sha-256", "a hash has no key"), ("SHA512", "a hash has no key"),
            ("hmac-md5", "MD5 is broken"), ("hmac-sha1", "SHA-1 is broken"), ("rsa-sha1", "SHA-1 is broken"),
            ("none", "not authentic"), ("", "not authentic"), ("ed25519", "not supported"),
        ])
    func refusedAlgorithms(_ name: String, _ reason: String) throws {
        let error = #expect(throws: KeychainError.self) { try FileSealAlgorithm(named: name) }
        #expect(error?.status == .unimplemented && error?.problem.contains(reason) == true)
        // A seal with this name is refused in the same way.
        let seal = try FileSeal.seal(file(content), with: .shared(secret.sharedSecret()), keyIdentifier: "k").encoded
        let named = seal.prefix(9) + [UInt8(name.utf8.count)] + Data(name.utf8) + seal.dropFirst(21)
        let found = #expect(throws: KeychainError.self) { try FileSeal(encoded: named) }
        #expect(found?.problem == error?.problem)
    }

    @Test("SEAL-5: an endless file is read no further than the seal says, and not at all for a forged seal")
    func boundedReading() throws {
        let path = try file(content)
        let key = FileSealVerificationKey.shared(secret.sharedSecret())
        let seal = try FileSeal.seal(path, with: .shared(secret.sharedSecret()), keyIdentifier: "k")
        // A sparse file of a tebibyte would be read for many minutes.
        let endless = directory.path + "/endless"
        #expect(FileManager.default.createFile(atPath: endless, contents: content))
        #expect(truncate(endless, 1 << 40) == 0)
        #expect(try status { try seal.verify(endless, with: key) } == -67808)
        let forged = FileSeal(
            .hmacSHA256, keyIdentifier: "k", length: 1 << 40, digest: seal.digest, signature: seal.signature)
        #expect(try status { try forged.verify(endless, with: key) } == -67808)
    }

    @Test("SEAL-6: bytes that are not exactly one seal are refused")
    func coding() throws {
        let seal = try FileSeal.seal(file(content), with: .shared(secret.sharedSecret()), keyIdentifier: "k").encoded
        #expect(try status { _ = try FileSeal(encoded: seal + [0]) } == -26275)
        #expect(try status { _ = try FileSeal(encoded: Data(count: 5000)) } == -26275)
        var changed = seal
        changed[8] = 2
        #expect(try status { _ = try FileSeal(encoded: changed) } == -4)
        // The key identifier "k" begins after the algorithm.
        let place = 8 + 1 + 1 + "hmac-sha256".utf8.count
        changed = seal
        changed[place + 1] = 0xFF
        #expect(try status { _ = try FileSeal(encoded: changed) } == -26275)
        #expect(
            try status { _ = try FileSeal(encoded: seal.prefix(place) + [0] + seal.dropFirst(place + 2)) } == -26275)
        for name in ["", String(repeating: "k", count: 256)] {
            let key = FileSealKey.shared(secret.sharedSecret())
            #expect(try status { _ = try FileSeal.seal(file(content), with: key, keyIdentifier: name) } == -50)
        }
    }

    @Test("SEAL-7: weak keys are refused")
    func weakKeys() throws {
        let path = try file(content)
        let short = Data(count: 31).sharedSecret()
        #expect(try status { _ = try FileSeal.seal(path, with: .shared(short), keyIdentifier: "k") } == -25311)
        let seal = try FileSeal.seal(path, with: .shared(secret.sharedSecret()), keyIdentifier: "k")
        #expect(try status { try seal.verify(path, with: .shared(short)) } == -25311)
        let weak = try RSAPrivateKey(bits: 1024)
        #expect(try status { _ = try FileSeal.seal(path, with: .rsa(weak), keyIdentifier: "k") } == -25311)
    }

    @Test("SEAL-8: a file that is not regular is refused without waiting")
    func otherFiles() throws {
        let pipe = directory.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let key = FileSealKey.shared(secret.sharedSecret())
        for path in [pipe, directory.path, "/dev/zero"] {
            #expect(try status { _ = try FileSeal.seal(path, with: key, keyIdentifier: "k") } == -50)
        }
        let missing = directory.path + "/missing"
        #expect(try status { _ = try FileSeal.seal(missing, with: key, keyIdentifier: "k") } == -36)
    }
}
