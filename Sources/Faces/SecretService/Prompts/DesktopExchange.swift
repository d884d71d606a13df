// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory
internal import SecretTransfer
internal import SystemBus

/// The encryption of the text that is typed into the desktop's prompter: `sx-aes-1` of gcr, with Diffie-Hellman in the
/// group of 1536 bits, HKDF-SHA256, and AES-128-CBC with PKCS #7.
struct DesktopExchange: Sendable {
    private let keys: ModularDiffieHellman

    /// nil if no key could be generated.
    init?() {
        do throws(OpenSSLError) {
            keys = try ModularDiffieHellman(generatingIn: .bits1536)
        } catch {
            return nil
        }
    }

    /// The text for the prompter, with the public key.
    var text: String { "\(Self.header)\npublic=\(Base64.text(keys.publicKey))\n" }

    /// Returns the secret in the prompter's answer; nil if there is none, or it is malformed.
    func secret(in text: String) -> SharedSecret? {
        guard text.utf8.count <= Self.maxLength, let fields = Self.fields(text), let peer = fields["public"],
            let vector = fields["iv"], let value = fields["secret"]
        else { return nil }
        let secret = TransferredSecret(
            session: .absent, parameters: SharedSecret(copying: vector), value: SharedSecret(copying: value),
            contentType: "")
        guard let key = try? SessionCipher.key(keys, with: peer) else { return nil }
        return try? SessionCipher.aes(key).decrypt(secret)
    }

    /// Reads the lines `name=BASE64` after the header; nil if a line is malformed.
    private static func fields(_ text: String) -> [String: [UInt8]]? {
        let lines = text.split(separator: "\n").map(String.init)
        guard lines.first == header else { return nil }
        var fields: [String: [UInt8]] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = parts.first, parts.count == 2, let text = parts.last,
                let bytes = Base64.bytes(text.utf8)
            else { return nil }
            fields[name] = bytes
        }
        return fields
    }

    private static let header = "[sx-aes-1]"
    private static let maxLength = 64 << 10
}
