// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// Encrypts names and other short texts, each purpose with keys of its own: the same text always gives
/// the same result, and a result that was not made with the key is recognised. It is the construction
/// SIV (Rogaway and Shrimpton, 2006) with HMAC-SHA256 and AES-256-CTR.
///
/// ```
/// K_mac ‖ K_enc = HKDF-SHA256(ikm = folder secret, salt = "", info = "latchkey v1 folder " ‖ purpose, 64 bytes)
/// iv            = HMAC-SHA256(K_mac, text)[0..<16]
/// result        = iv ‖ AES-256-CTR(K_enc, iv, text)
/// ```
///
/// It discloses the length of a text, and whether texts of a folder are equal. A name is not bound to its directory, so
/// that a file can be moved.
final class TextCipher: Sendable {
    enum Purpose: String {
        case name = "names"
        case target = "link targets"
        case attributeName = "attribute names"
        case attributeValue = "attribute values"
    }

    /// How much longer a result is than its text.
    static let overhead = 16

    private let authentication: HMACKey
    private let encryption: SharedSecret
    private let stream = SystemMutex(Stream())

    private struct Stream: @unchecked Sendable {  // because it is only used under the mutex
        var cipher: BlockCipher?
    }

    /// - Parameter secret: the random bytes of the folder.
    init(_ purpose: Purpose, _ secret: SharedSecret) {
        let keys = secret.withUnsafeBytes { secret in
            SecretBytes(count: 64) {
                KeyDerivation.hkdf(secret, info: Array("latchkey v1 folder \(purpose.rawValue)".utf8), into: $0)
            }
        }
        authentication = keys.withUnsafeBytes { HMACKey(UnsafeRawBufferPointer(rebasing: $0.prefix(32))) }
        encryption = keys.withUnsafeBytes {
            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(32))))
        }
    }

    /// Encrypts a text; nil if libcrypto cannot.
    func seal(_ text: [UInt8]) -> [UInt8]? {
        let vector = vector(of: text)
        return crypt(text, vector).map { vector + $0 }
    }

    /// Decrypts; nil for anything that ``seal(_:)`` has not made.
    func open(_ sealed: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.overhead else { return nil }
        let vector = Array(sealed.prefix(Self.overhead))
        guard let text = crypt(Array(sealed.dropFirst(Self.overhead)), vector) else { return nil }
        var difference: UInt8 = 0
        for (one, other) in zip(vector, self.vector(of: text)) { difference |= one ^ other }
        return difference == 0 ? text : nil
    }

    private func vector(of text: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: HMACKey.codeByteCount)
        code.withUnsafeMutableBytes { code in text.withUnsafeBytes { authentication.writeCode(of: $0, to: code) } }
        return Array(code.prefix(Self.overhead))
    }

    /// Encrypts or decrypts; both are the same.
    private func crypt(_ input: [UInt8], _ vector: [UInt8]) -> [UInt8]? {
        guard let kind = CipherKind(.aes, mode: .ctr, keyByteCount: 32) else { return nil }
        var output = [UInt8](repeating: 0, count: input.count)
        let isDone = vector.withUnsafeBytes { vector in
            input.withUnsafeBytes { input in
                output.withUnsafeMutableBytes { output in
                    stream.withLock { stream in
                        do throws(CipherError) {
                            try start(&stream.cipher, kind, vector)
                            return try stream.cipher?.update(with: input, into: output) == input.count
                        } catch {
                            return false
                        }
                    }
                }
            }
        }
        return isDone ? output : nil
    }

    private func start(
        _ stream: inout BlockCipher?, _ kind: CipherKind, _ vector: UnsafeRawBufferPointer
    ) throws(CipherError) {
        if let stream { return try stream.restart(vector: vector) }
        stream = try encryption.withUnsafeBytes { (key) throws(CipherError) in
            try BlockCipher(kind, .encrypt, isPadded: false, key: key, vector: vector)
        }
    }
}
