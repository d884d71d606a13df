// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import KeyServices
internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// The data that both parties of a payload box know beside the keys.
struct PayloadBinding: Sendable {
    /// The use of the box, in the derivation of its keys.
    let context: [UInt8]
    /// The digest of the additional data. Every chunk authenticates it.
    let digest: [UInt8]

    static let maxContextLength = 64 * 1024

    init(context: Data, authenticating data: Data) throws(KeychainError) {
        guard context.count <= Self.maxContextLength else {
            throw .parameter(
                "the context of a payload box has at most \(Self.maxContextLength) bytes, found \(context.count)")
        }
        (self.context, digest) = (Array(context), Array(SHA256.hash(data: data)))
    }

    /// The additional data of a chunk.
    func additionalData(isLast: Bool) -> [UInt8] { [isLast ? 1 : 0] + digest }

    func info(_ header: PayloadHeader) -> [UInt8] { Array("latchkey v1 payload box".utf8) + header.bytes + context }
}

/// The agreement of sender and recipient on the keys of one box (RFC 9180, section 4.1).
enum PayloadAgreement {
    /// Agrees as the sender.
    ///
    /// - Parameter ephemeral: a key that is used once; only tests have a fixed one.
    /// - Returns: the encapsulated key, and the context of the messages.
    static func send(
        _ header: PayloadHeader, to recipient: PayloadPublicKey, from sender: PayloadPrivateKey?,
        _ binding: PayloadBinding, ephemeral: PayloadPrivateKey? = nil
    ) throws(KeychainError) -> (encapsulated: [UInt8], keys: KeysReference) {
        guard recipient.suite != .xWing else { return try sendXWing(header, to: recipient, binding) }
        let ephemeral = if let ephemeral { ephemeral } else { try PayloadPrivateKey.generate(recipient.suite) }
        let encapsulated = ephemeral.publicKey.bytes
        var agreed = [try ephemeral.agreed(with: recipient)]
        if let sender { agreed.append(try sender.agreed(with: recipient)) }
        let shared = recipient.suite.encapsulation.sharedSecret(
            agreed: SecretMemory.SharedSecret(joining: agreed).copy(),
            context: encapsulated + recipient.bytes + (sender?.publicKey.bytes ?? []))
        return (encapsulated, KeysReference(header, sharedSecret: shared, binding))
    }

    private static func sendXWing(
        _ header: PayloadHeader, to recipient: PayloadPublicKey, _ binding: PayloadBinding
    ) throws(KeychainError) -> (encapsulated: [UInt8], keys: KeysReference) {
        guard let key = try? XWingMLKEM768X25519.PublicKey(rawRepresentation: recipient.bytes),
            let result = try? key.encapsulate()
        else { throw .parameter("the public key of X-Wing cannot be used") }
        let shared = result.sharedSecret.withUnsafeBytes { SecretMemory.SharedSecret(SecretBytes(copying: $0)) }
        return (Array(result.encapsulated), KeysReference(header, sharedSecret: shared.copy(), binding))
    }

    /// Agrees as the recipient.
    ///
    /// - Throws: errSecVerifyFailed if no sender can have encapsulated the key.
    static func receive(
        _ header: PayloadHeader, _ encapsulated: [UInt8], with key: PayloadPrivateKey, from sender: PayloadPublicKey?,
        _ binding: PayloadBinding
    ) throws(KeychainError) -> KeysReference {
        guard header.suite != .xWing else {
            guard let shared = try key.decapsulatedXWing(encapsulated) else { throw notAuthentic }
            return KeysReference(header, sharedSecret: shared.copy(), binding)
        }
        guard let ephemeral = try? PayloadPublicKey(header.suite, rawRepresentation: encapsulated) else {
            throw notAuthentic
        }
        var agreed = [try key.agreed(with: ephemeral)]
        if let sender { agreed.append(try key.agreed(with: sender)) }
        let shared = header.suite.encapsulation.sharedSecret(
            agreed: SecretMemory.SharedSecret(joining: agreed).copy(),
            context: encapsulated + key.publicKey.bytes + (sender?.bytes ?? []))
        return KeysReference(header, sharedSecret: shared, binding)
    }

    static let notAuthentic = KeychainError(
        .verifyFailed, "the payload box is not authentic",
        hint: "it was changed or cut, or is for another recipient, sender, context or additional data")
}

/// The keys of one box; the sealer or the opener has the only reference.
final class KeysReference: Sendable {
    private let keys: HPKEContext

    init(_ header: PayloadHeader, sharedSecret: borrowing SecretBytes, _ binding: PayloadBinding) {
        keys = HPKEContext(
            header.suite.encapsulation, header.mode, sharedSecret: sharedSecret, info: binding.info(header))
    }

    func seal(_ plaintext: UnsafeRawBufferPointer, number: UInt64, authenticating: [UInt8]) throws(KeychainError)
        -> [UInt8]
    {
        try crypto { () throws(OpenSSLError) in
            try keys.seal(plaintext, number: number, authenticating: authenticating)
        }
    }

    /// - Throws: errSecVerifyFailed if the chunk is not authentic.
    func open(_ chunk: ArraySlice<UInt8>, number: UInt64, authenticating: [UInt8]) throws(KeychainError)
        -> SecretMemory.SharedSecret
    {
        let opened = try crypto { () throws(OpenSSLError) in
            try chunk.withUnsafeBufferPointer { (chunk) throws(OpenSSLError) in
                try keys.open(UnsafeRawBufferPointer(chunk), number: number, authenticating: authenticating)
            }
        }
        guard let opened else { throw PayloadAgreement.notAuthentic }
        return opened
    }
}
