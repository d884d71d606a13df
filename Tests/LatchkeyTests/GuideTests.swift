// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Latchkey
import LatchkeyCommonCrypto
import LatchkeyPayloads
import SecretMemory
import Testing

/// The lines of Swift in the guides. DocumentationPagesTests compares them.
@Suite("Swift in the guides")
struct GuideTests {
    @Test("The lines of \"Thirteen topics\" compile and behave as stated")
    func topics() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/model.bin"
        try Data("model".utf8).write(to: URL(filePath: path))
        let (key, iv, salt) = ([UInt8](1...32), [UInt8](1...16), [UInt8](1...8))
        let message = Array("a message".utf8)
        let secret = SharedSecret(copying: [UInt8](1...32))
        try TestKeychain(.ephemeral).run(groups: ["G1"]) {
            let keychain = Keychain.default
            let alice = GenericPassword(service: "mail.example.com", account: "alice")
            let stored = GenericPassword(service: "mail.example.com", account: "hash of alice")
            try keychain.set(alice, to: "s3cret")

            print(SharedSecret(try keychain.secret(for: alice)))
            #expect("\(SharedSecret(try keychain.secret(for: alice)))" == "<redacted 6 bytes>")

            let capacity = 32
            var (output, moved) = ([UInt8](repeating: 0, count: capacity), 0)
            CCCrypt(
                CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding), key, 32, iv,
                message, message.count, &output, capacity, &moved)
            #expect(moved == 16)

            let recipient = try PayloadPrivateKey.generate(.p256)
            let server = recipient.publicKey
            let box = try PayloadBox.seal("an order", to: server)
            let order = try PayloadBox.open(box, with: recipient)
            #expect(order.withUnsafeBytes { Array($0) } == Array("an order".utf8))

            var digest = [UInt8](repeating: 0, count: 32)
            CC_SHA256(message, CC_LONG(message.count), &digest)
            var code = [UInt8](repeating: 0, count: 32)
            CCHmac(CCHmacAlgorithm(kCCHmacAlgSHA256), key, key.count, message, message.count, &code)
            #expect(Set([digest, code, [UInt8](repeating: 0, count: 32)]).count == 3)

            let seal = try FileSeal.seal(path, with: .shared(secret), keyIdentifier: "release", context: "model 3")
            try seal.verify(path, with: .shared(secret), context: "model 3")

            @KeychainItem(service: "mail.example.com", account: "alice") var password: String?
            #expect(password == "s3cret")
            try keychain.set(alice, to: "s3cret")

            var hash = [UInt8](repeating: 0, count: 32)
            if let password {
                CCKeyDerivationPBKDF(
                    CCPBKDFAlgorithm(kCCPBKDF2), password, password.utf8.count, salt, salt.count,
                    CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), 600_000, &hash, 32)
            }
            try keychain.set(stored, to: Data(hash))
            let isSame = SharedSecret(try keychain.secret(for: stored)) == SharedSecret(copying: hash)
            #expect(isSame)
        }
    }

    @Test("The lines about protected files compile and behave as stated")
    func protectedFiles() throws {
        let directory = try TemporaryDirectory()
        let (path, url) = (directory.path + "/notes.db", URL(filePath: directory.path + "/plain"))
        let data = Data("my notes".utf8)
        try TestKeychain(.onDisk).run(groups: ["G1"]) {
            let keychain = Keychain.default
            let item = GenericPassword(service: "scans", account: "passport")

            // This program has no redirections.
            try data.write(to: url, options: .completeFileProtection)
            #expect(try Data(contentsOf: url) == data)

            try ProtectedFile.write(data, to: path, protection: .complete)
            let file = try ProtectedFile(path, for: .updating)
            #expect(try file.read(at: 0, count: data.count) == data)

            try keychain.storeFile(path, as: item)
            #expect(try keychain.storedFile(item).contents() == Data(contentsOf: URL(filePath: path)))
        }
    }
}
