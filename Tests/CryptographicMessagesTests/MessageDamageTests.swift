// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeyServices
import KeychainModel
import KeychainTesting
import Testing

@testable import CryptographicMessages

/// Messages with missing or changed bytes: they are never accepted with another content.
@Suite("Damaged messages")
struct MessageDamageTests {
    private static let content = Array("The content that was signed".utf8)

    /// The contents of the valid signatures of a message.
    private static func accepted(_ bytes: [UInt8]) -> Set<[UInt8]> {
        guard let signed = try? CryptographicMessage(bytes).signed, let content = signed.content else { return [] }
        return signed.verdicts().contains(where: \.isValid) ? [Array(content)] : []
    }

    @Test(
        "A signed message that is cut off at any length is refused",
        arguments: [["-nodetach"], ["-nodetach", "-stream"]])
    func cutOff(_ options: [String]) throws {
        let message = try MessageParties.signed(Self.content, by: "p256", options)
        #expect(Self.accepted(message) == [Self.content])
        for count in 0..<message.count {
            #expect(throws: KeychainError.self) { try CryptographicMessage(Array(message.prefix(count))) }
        }
        #expect(throws: KeychainError.self) { try CryptographicMessage(message + [0]) }
    }

    @Test(
        "A signed message with any byte changed has its content, or is not accepted", .long,
        arguments: [["-nodetach"], ["-nodetach", "-noattr"], ["-nodetach", "-stream"]])
    func changed(_ options: [String]) throws {
        let message = try MessageParties.signed(Self.content, by: "p256", options)
        for position in message.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var changed = message
                changed[position] ^= change
                #expect(Self.accepted(changed).subtracting([Self.content]) == [], "byte \(position)")
            }
        }
    }

    @Test("An encrypted message that is cut off at any length is refused", arguments: ["rsa", "p256"])
    func encryptedCutOff(_ name: String) throws {
        let message = try MessageParties.encrypted(Self.content, for: [name], ["-aes256"])
        for count in 0..<message.count {
            #expect(throws: KeychainError.self) { try CryptographicMessage(Array(message.prefix(count))) }
        }
    }

    @Test(
        "A change outside of the ciphertext never reveals another content; CBC does not protect the ciphertext itself",
        arguments: ["rsa", "p256"])
    func encryptedChanged(_ name: String) throws {
        let party = try MessageParties.party(name)
        let message = try MessageParties.encrypted(Self.content, for: [name], ["-aes256"])
        var failures: Set<OSStatusCode> = []
        for position in message.indices {
            var changed = message
            changed[position] ^= 0x20
            guard let enveloped = try? CryptographicMessage(changed).enveloped,
                let recipient = enveloped.recipient(party.certificate)
            else { continue }
            do {
                _ = try enveloped.content(for: recipient, by: party.key)
            } catch {
                failures.insert(error.status)
            }
        }
        // A decryption fails with an unsupported algorithm, or with the one error.
        #expect(failures.isSubset(of: [.decode, .unimplemented, .unknownFormat]))
        #expect(failures.contains(.decode))
    }

    @Test("Every input of the fuzzer's corpus is read without a trap")
    func corpus() throws {
        let inputs = try FuzzCorpus.inputs("messages")
        #expect(inputs.count >= 10)
        for input in inputs { _ = try? CryptographicMessage(Array(input.bytes.dropFirst())) }
    }
}
