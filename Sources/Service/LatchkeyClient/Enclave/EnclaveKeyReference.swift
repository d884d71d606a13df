// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The bytes that a program stores to keep a key of a Secure Enclave that it did not name
/// (`dataRepresentation` of CryptoKit, `toid` of a SecKey). They are no secret: only programs with the access group of
/// the key can use it, and only in the keychain that created it.
///
/// ```
/// "LKEK"  version 1  20 bytes: the persistent reference  65 bytes: 04 ‖ X ‖ Y
/// ```
public struct EnclaveKeyReference: Hashable, Sendable {
    public let reference: PersistentReference
    /// The public half, `04 ‖ X ‖ Y`.
    public let publicPoint: [UInt8]

    private static let magic = Array("LKEK".utf8)
    private static let version: UInt8 = 1
    private static let referenceLength = 20
    private static let pointLength = 65

    public init(_ reference: PersistentReference, publicPoint: [UInt8]) {
        (self.reference, self.publicPoint) = (reference, publicPoint)
    }

    public var encoded: [UInt8] { Self.magic + [Self.version] + reference.bytes + publicPoint }

    /// - Throws: errSecParam for other bytes.
    public init(decoding bytes: [UInt8]) throws(KeychainError) {
        let head = Self.magic.count + 1
        guard bytes.starts(with: Self.magic) else {
            throw .parameter("the bytes are not the representation of a key in a Secure Enclave")
        }
        guard bytes.count > Self.magic.count, bytes[Self.magic.count] == Self.version else {
            throw .parameter("the representation of the key has an unsupported version")
        }
        let point = Array(bytes.dropFirst(head + Self.referenceLength))
        guard let reference = PersistentReference(bytes: Array(bytes.dropFirst(head).prefix(Self.referenceLength))),
            reference.itemClass == .key, point.count == Self.pointLength, point.first == 4
        else { throw .parameter("the representation of the key is damaged") }
        self.init(reference, publicPoint: point)
    }
}
