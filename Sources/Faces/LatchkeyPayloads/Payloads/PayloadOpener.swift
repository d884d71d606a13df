// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// Opens a box in parts, as ``PayloadBox`` does in one. It holds at most one chunk of 64 KiB beside
/// the part that it is given.
///
/// Each returned part is authentic and in its place, but the payload is complete only when
/// ``finish()`` returns: until then do nothing that cannot be undone.
public struct PayloadOpener: ~Copyable, Sendable {
    private enum State: Sendable {
        case head
        case chunks(KeysReference)
        case failed(KeychainError)
    }

    private let key: PayloadPrivateKey
    private let sender: PayloadPublicKey?
    private let binding: PayloadBinding
    private var state = State.head
    private var pending: [UInt8] = []
    private var number: UInt64 = 0

    /// Starts to open a box.
    ///
    /// - Parameters:
    ///   - key: the private half of the recipient's key.
    ///   - sender: who must have sealed the box; nil for a box without a sender.
    ///   - context: as the sender stated it.
    ///   - data: as the sender had it.
    /// - Throws: `errSecParam` if the keys have different suites, or the context is too long.
    public init(
        with key: PayloadPrivateKey, from sender: PayloadPublicKey? = nil, context: Data = Data(),
        authenticating data: Data = Data()
    ) throws(KeychainError) {
        if let sender, sender.suite != key.suite {
            throw .parameter("the keys must have one suite, found \(sender.suite) and \(key.suite)")
        }
        let binding = try PayloadBinding(context: context, authenticating: data)
        (self.key, self.sender, self.binding) = (key, sender, binding)
    }

    /// Continues the box.
    ///
    /// - Returns: the next bytes of the payload; they may be empty.
    /// - Throws: `errSecVerifyFailed` if the box is not authentic; `errSecDecode` if it is not a
    ///   box; `errSecUnimplemented` for another version; `errSecParam` if it is for a key of another
    ///   suite, or has no sender and should, or has one and should not; an error of the keychain.
    ///   Afterwards every call throws the same.
    public mutating func update(_ box: some DataProtocol) throws(KeychainError) -> SharedSecret {
        do throws(KeychainError) {
            pending += box
            guard let keys = try readHead() else { return SharedSecret(joining: []) }
            var (parts, start) = ([SharedSecret](), 0)
            // One byte more than a chunk: a chunk at the end is the last one.
            while pending.count - start > Self.sealedLength {
                parts.append(try open(keys, pending[start..<start + Self.sealedLength], isLast: false))
                start += Self.sealedLength
            }
            pending.removeFirst(start)
            return SharedSecret(joining: parts)
        } catch {
            (state, pending) = (.failed(error), [])
            throw error
        }
    }

    /// Ends the box.
    ///
    /// - Returns: the last bytes of the payload. The payload is now complete.
    /// - Throws: `errSecVerifyFailed` if the end of the box is missing; also as
    ///   ``update(_:)``.
    public consuming func finish() throws(KeychainError) -> SharedSecret {
        guard let keys = try readHead() else {
            throw pending.isEmpty ? PayloadHeader.notABox : PayloadAgreement.notAuthentic
        }
        guard pending.count >= AESGCM.tagLength else { throw PayloadAgreement.notAuthentic }
        let last = try open(keys, pending[...], isLast: true)
        // Each payload has one form: an empty chunk is the only one.
        guard number == 1 || last.count > 0 else { throw PayloadAgreement.notAuthentic }
        return last
    }

    private mutating func open(_ keys: KeysReference, _ chunk: ArraySlice<UInt8>, isLast: Bool) throws(KeychainError)
        -> SharedSecret
    {
        guard number < PayloadBox.maxChunks else {
            throw KeychainError(.dataTooLarge, "a payload box has at most \(PayloadBox.maxChunks) chunks")
        }
        let opened = try keys.open(chunk, number: number, authenticating: binding.additionalData(isLast: isLast))
        number += 1
        return opened
    }

    /// Returns the keys; nil before the head is complete.
    private mutating func readHead() throws(KeychainError) -> KeysReference? {
        switch state {
        case .failed(let error): throw error
        case .chunks(let keys): return keys
        case .head: break
        }
        guard pending.count >= PayloadHeader.length else {
            guard PayloadHeader.magic.starts(with: pending.prefix(PayloadHeader.magic.count)) else {
                throw PayloadHeader.notABox
            }
            return nil
        }
        let header = try PayloadHeader(Array(pending.prefix(PayloadHeader.length)))
        try requireExpected(header)
        let length = PayloadHeader.length + header.suite.encapsulatedLength
        guard pending.count >= length else { return nil }
        let encapsulated = Array(pending[PayloadHeader.length..<length])
        let keys = try PayloadAgreement.receive(header, encapsulated, with: key, from: sender, binding)
        pending.removeFirst(length)
        state = .chunks(keys)
        return keys
    }

    private borrowing func requireExpected(_ header: PayloadHeader) throws(KeychainError) {
        guard header.suite == key.suite else {
            throw .parameter("the payload box is for a key of \(header.suite), and the key is one of \(key.suite)")
        }
        guard (header.mode == .authenticated) == (sender != nil) else {
            throw .parameter(
                sender == nil
                    ? "the payload box has a sender; its public key is needed"
                    : "the payload box has no sender, and one is required")
        }
    }

    private static let sealedLength = PayloadBox.chunkLength + AESGCM.tagLength
}
