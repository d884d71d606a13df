// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import KeyServices

/// Key operations of openssl.
extension OpenSSL {
    func file(_ entry: KeyFileEntry, as structure: KeyFile.Structure = .pkcs8) throws -> String {
        try file(KeyFile.write(entry, as: structure).bytes)
    }

    private func options(_ options: [String]) -> [String] { options.flatMap { ["-pkeyopt", $0] } }

    func sign(_ digest: [UInt8], _ key: KeyFileEntry, _ settings: [String]) throws -> [UInt8] {
        try output(["pkeyutl", "-sign", "-inkey", file(key), "-in", file(digest)] + options(settings))
    }

    func verifies(_ signature: [UInt8], of digest: [UInt8], _ key: PublicKey, _ settings: [String]) throws -> Bool {
        try run(
            [
                "pkeyutl", "-verify", "-pubin", "-inkey", file(.publicKey(key)), "-sigfile", file(signature), "-in",
                file(digest),
            ]
                + options(settings)
        ).status == 0
    }

    func encrypt(_ plaintext: [UInt8], _ key: PublicKey, _ settings: [String]) throws -> [UInt8] {
        try output(
            ["pkeyutl", "-encrypt", "-pubin", "-inkey", file(.publicKey(key)), "-in", file(plaintext)]
                + options(settings))
    }

    func decrypt(_ ciphertext: [UInt8], _ key: KeyFileEntry, _ settings: [String]) throws -> [UInt8] {
        try output(["pkeyutl", "-decrypt", "-inkey", file(key), "-in", file(ciphertext)] + options(settings))
    }

    func derive(_ key: KeyFileEntry, _ other: PublicKey) throws -> [UInt8] {
        try output(["pkeyutl", "-derive", "-inkey", file(key), "-peerkey", file(.publicKey(other))])
    }
}
