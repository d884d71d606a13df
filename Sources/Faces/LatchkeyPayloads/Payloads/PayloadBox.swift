// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
public import Latchkey
public import SecretMemory

/// Payloads that only one recipient can open, also behind proxies that end TLS: hybrid public key
/// encryption (HPKE, RFC 9180). ``PayloadSealer`` and ``PayloadOpener`` do the same in parts.
///
/// ```swift
/// let box = try PayloadBox.seal(order, to: serverKey, context: Data("orders v1".utf8))
/// ```
///
/// A box has no date and no number: a recipient opens a copy of it as well. Let `context` or the additional data
/// contain a value that must be used once. The recipient's private key opens all earlier boxes, and can forge boxes of
/// any sender for that recipient. The length of the payload is visible.
public enum PayloadBox {
    /// Seals a payload.
    ///
    /// - Parameters:
    ///   - payload: the bytes to seal.
    ///   - recipient: the public key; its private half opens the box.
    ///   - sender: authenticates the box as the sender's; nil if anyone can be the sender.
    ///   - context: the use of the box, at most 64 KiB. The recipient must state it as well.
    ///   - data: the data that the box belongs to. The recipient must have it as well. It is not in the box.
    /// - Throws: as ``PayloadSealer/init(to:from:context:authenticating:)``.
    public static func seal(
        _ payload: some SecretConvertible, to recipient: PayloadPublicKey, from sender: PayloadPrivateKey? = nil,
        context: Data = Data(), authenticating data: Data = Data()
    ) throws(KeychainError) -> Data {
        var sealer = try PayloadSealer(to: recipient, from: sender, context: context, authenticating: data)
        let start = try sealer.update(payload.sharedSecret())
        return start + (try sealer.finish())
    }

    /// Opens a box.
    ///
    /// - Parameters:
    ///   - box: the whole box.
    ///   - key: the private half of the recipient's key.
    ///   - sender: who must have sealed the box; nil for a box without a sender.
    ///   - context: as the sender stated it.
    ///   - data: as the sender had it.
    /// - Throws: as ``PayloadOpener/update(_:)``.
    public static func open(
        _ box: some DataProtocol, with key: PayloadPrivateKey, from sender: PayloadPublicKey? = nil,
        context: Data = Data(), authenticating data: Data = Data()
    ) throws(KeychainError) -> SharedSecret {
        var opener = try PayloadOpener(with: key, from: sender, context: context, authenticating: data)
        let start = try opener.update(box)
        let end = try opener.finish()
        return start.count == 0 ? end : SharedSecret(joining: [start, end])
    }

    static let chunkLength = 64 * 1024
    /// AES-GCM with one key is safe for 2³² messages.
    static let maxChunks: UInt64 = 1 << 32
}
