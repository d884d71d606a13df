// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeyServices
import SecretMemory
import Testing

/// The inputs of Fuzz/Corpus/keys: keys in each format, and inputs of the fuzzer that take other
/// paths. The first byte selects the reader of the rest, as in the fuzzer.
@Suite("Fuzzer's corpus of keys")
struct KeyCorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/Corpus/keys")
        .standardized

    @Test("Every input of the corpus is read without a trap; a key is written as it was read")
    func replay() throws {
        var (keys, refusals) = (0, 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) {
            let bytes = Array(try Data(contentsOf: Self.folder.appending(path: name)))
            guard let choice = bytes.first else { continue }
            let rest = Array(bytes.dropFirst())
            do {
                switch choice % 8 {
                case 0: #expect(try SoftwareKey.read(rest, .rsa).external().bytes == rest, "\(name)")
                case 1: #expect(try SoftwareKey.read(rest, .ellipticCurve).external().bytes == rest, "\(name)")
                case 2: #expect(try PublicKey.read(rest, .rsa).external == rest, "\(name)")
                case 3: #expect(try PublicKey.read(rest, .ellipticCurve).external == rest, "\(name)")
                case 4:
                    for entry in try KeyFile.read(rest, passphrase: SharedSecret(copying: "a passphrase".utf8)) {
                        let again = try KeyFile.read(KeyFile.write(entry, as: .pkcs8).bytes)
                        #expect(again.first?.publicKey.external == entry.publicKey.external, "\(name)")
                    }
                case 5:
                    let key = try #require(SampleKeys.p256).publicKey
                    #expect(
                        try !key.isSignature(
                            rest, of: [UInt8](repeating: 1, count: 32), .ecdsa(.x962, .digest(.sha256))), "\(name)")
                default: _ = try SampleKeys.p256?.decrypted(rest, .ecies(.standard, .sha256, derivesIV: true))
                }
                keys += 1
            } catch {
                refusals += 1
            }
        }
        #expect(keys > 20 && refusals > 5, "\(keys) keys, \(refusals) refusals")
    }

    /// Writes the seeds of the fuzzer.
    @Test(
        "Seeds are written on demand",
        .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_RECORD_CORPUS"] == "1", "only to record new ones"))
    func record() throws {
        func write(_ name: String, _ choice: UInt8, _ bytes: [UInt8]) throws {
            try Data([choice] + bytes).write(to: Self.folder.appending(path: name))
        }
        for key in [SampleKeys.rsa1024] + SampleKeys.curves {
            guard let key else { continue }
            let isRSA = key.kind.type == .rsa
            let external = try key.external().bytes
            try write("private-\(key.kind)", isRSA ? 0 : 1, external)
            try write("private-\(key.kind)-cut", isRSA ? 0 : 1, external.dropLast())
            try write("public-\(key.kind)", isRSA ? 2 : 3, key.publicKey.external)
            for structure in KeyFile.Structure.allCases {
                for (half, entry) in [("private", KeyFileEntry.privateKey(key)), ("public", .publicKey(key.publicKey))]
                {
                    for isPEM in [true, false] {
                        guard let file = try? KeyFile.write(entry, as: structure, isPEM: isPEM) else { continue }
                        try write(
                            "file-\(key.kind)-\(half)-\(structure.rawValue)-\(isPEM ? "text" : "der")", 4, file.bytes)
                    }
                }
            }
        }
        let key = try #require(SampleKeys.p256)
        try write(
            "file-encrypted", 4,
            KeyFile.write(.privateKey(key), as: .pkcs8, passphrase: SharedSecret(copying: "a passphrase".utf8)).bytes)
        try write("signature", 5, key.signature(of: [1], .ecdsa(.x962, .message(.sha256))))
        try write("ecies", 6, key.publicKey.encrypted([1, 2], .ecies(.standard, .sha256, derivesIV: true)))
        try write("ecies-short", 6, [4, 1])
        try write("nothing", 4, [])
    }
}
