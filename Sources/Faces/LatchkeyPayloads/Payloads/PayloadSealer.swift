// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// Seals a payload of any length in parts, as ``PayloadBox`` does in one. It holds at most one chunk
/// of 64 KiB.
///
/// ```swift
/// var sealer = try PayloadSealer(to: recipient)
/// while let part = try input.read(upToCount: 1 << 20) { try output.write(sealer.update(part)) }
/// try output.write(sealer.finish())
/// ```
public struct PayloadSealer: ~Copyable, Sendable {
    private let keys: KeysReference
    private let binding: PayloadBinding
    private let chunk: SecretBuffer
    private var filled = 0
    private var number: UInt64 = 0
    /// The head of the box, until it is returned.
    private var head: [UInt8]

    /// Starts a box.
    ///
    /// - Parameters:
    ///   - recipient: the recipient's public key; its private half opens the box.
    ///   - sender: authenticates the box as the sender's; nil if anyone can be the sender.
    ///   - context: the use of the box; the recipient must state it as well; at most 64 KiB.
    ///   - data: the data that the box belongs to; the recipient must have it as well.
    /// - Throws: `errSecParam` if the sender's key has another suite, or the suite cannot
    ///   authenticate senders; an error of the keychain.
    public init(
        to recipient: PayloadPublicKey, from sender: PayloadPrivateKey? = nil, context: Data = Data(),
        authenticating data: Data = Data()
    ) throws(KeychainError) {
        try self.init(to: recipient, from: sender, context: context, authenticating: data, ephemeral: nil)
    }

    init(
        to recipient: PayloadPublicKey, from sender: PayloadPrivateKey?, context: Data, authenticating data: Data,
        ephemeral: PayloadPrivateKey?
    ) throws(KeychainError) {
        if let sender {
            guard recipient.suite.authenticatesSenders else {
                throw .parameter("\(recipient.suite) cannot authenticate a sender")
            }
            guard sender.suite == recipient.suite else {
                throw .parameter("the keys must have one suite, found \(sender.suite) and \(recipient.suite)")
            }
        }
        let header = PayloadHeader(recipient.suite, sender == nil ? .base : .authenticated)
        let binding = try PayloadBinding(context: context, authenticating: data)
        let agreement = try PayloadAgreement.send(header, to: recipient, from: sender, binding, ephemeral: ephemeral)
        // A noncopyable value is initialized after everything that can throw.
        (self.binding, keys) = (binding, agreement.keys)
        chunk = SecretBuffer(count: PayloadBox.chunkLength)
        head = header.bytes + agreement.encapsulated
    }

    /// Continues the payload.
    ///
    /// - Returns: the next bytes of the box; they may be empty.
    public mutating func update(_ payload: some DataProtocol) throws(KeychainError) -> Data {
        let start = payload.startIndex
        return try append(count: payload.count) { part, target in
            let range =
                payload.index(start, offsetBy: part.lowerBound)..<payload.index(start, offsetBy: part.upperBound)
            payload.copyBytes(to: target, from: range)
        }
    }

    /// Continues the payload with a secret.
    ///
    /// - Returns: the next bytes of the box; they may be empty.
    public mutating func update(_ payload: SharedSecret) throws(KeychainError) -> Data {
        try append(count: payload.count) { part, target in
            payload.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[part])) }
        }
    }

    /// Ends the payload. A box without its end is refused by the recipient.
    ///
    /// - Returns: the last bytes of the box.
    public consuming func finish() throws(KeychainError) -> Data {
        let last = try sealedChunk(isLast: true)
        return Data(head + last)
    }

    private mutating func append(
        count: Int, _ copy: (_ part: Range<Int>, _ target: UnsafeMutableRawBufferPointer) -> Void
    ) throws(KeychainError) -> Data {
        var output = Data(head)
        head = []
        var position = 0
        while position < count {
            // A full chunk is sealed when another byte follows: only then it is not the last one.
            if filled == PayloadBox.chunkLength {
                output += try sealedChunk(isLast: false)
                filled = 0
                number += 1
            }
            let length = min(count - position, PayloadBox.chunkLength - filled)
            let place = filled..<filled + length
            chunk.withUnsafeMutableBytes {
                copy(position..<position + length, UnsafeMutableRawBufferPointer(rebasing: $0[place]))
            }
            filled += length
            position += length
        }
        return output
    }

    private borrowing func sealedChunk(isLast: Bool) throws(KeychainError) -> [UInt8] {
        guard number < PayloadBox.maxChunks else {
            throw KeychainError(.dataTooLarge, "a payload box has at most \(PayloadBox.maxChunks) chunks")
        }
        let additionalData = binding.additionalData(isLast: isLast)
        return try chunk.withUnsafeMutableBytes { (chunk) throws(KeychainError) in
            try keys.seal(
                UnsafeRawBufferPointer(rebasing: chunk.prefix(filled)), number: number, authenticating: additionalData)
        }
    }
}
