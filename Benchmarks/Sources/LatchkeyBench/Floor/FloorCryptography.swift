// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// The primitives that the format requires, directly from swift-crypto, with keys that are already
/// in memory.
///
/// A half is `wrapped key(40) ‖ nonce(12) ‖ ciphertext ‖ tag(16)`, with a new key for every write,
/// as in the keychain's own format.
struct FloorCryptography {
    /// The two parts of a row.
    enum Half: UInt8 {
        case secret = 1
        case metadata = 2
    }

    private let indexKey: SymmetricKey
    private let secretClassKey: SymmetricKey
    private let metadataClassKey: SymmetricKey

    init(_ keys: FloorKeys) {
        indexKey = SymmetricKey(data: keys.index)
        secretClassKey = SymmetricKey(data: keys.secret)
        metadataClassKey = SymmetricKey(data: keys.metadata)
    }

    /// A search token: the first 16 bytes of an HMAC-SHA256.
    func token(_ name: String, _ value: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(name.utf8) + value, using: indexKey).prefix(16))
    }

    func token(_ name: String, _ value: String) -> [UInt8] {
        token(name, Array(value.utf8))
    }

    func seal(_ plaintext: [UInt8], as half: Half, of row: FloorRow) throws -> [UInt8] {
        let key = SymmetricKey(size: .bits256)
        let box = try AES.GCM.seal(plaintext, using: key, authenticating: Self.additionalData(half, row))
        var sealed = Array(try AES.KeyWrap.wrap(key, using: classKey(half)))
        sealed.append(contentsOf: box.nonce)
        sealed.append(contentsOf: box.ciphertext)
        sealed.append(contentsOf: box.tag)
        return sealed
    }

    func open(_ half: Half, of row: FloorRow) throws -> Data {
        let sealed = half == .secret ? row.secret : row.metadata
        let key = try AES.KeyWrap.unwrap(sealed[..<Self.wrappedKeyLength], using: classKey(half))
        let box = try AES.GCM.SealedBox(combined: sealed[Self.wrappedKeyLength...])
        return try AES.GCM.open(box, using: key, authenticating: Self.additionalData(half, row))
    }

    private func classKey(_ half: Half) -> SymmetricKey {
        half == .secret ? secretClassKey : metadataClassKey
    }

    /// The additional data that binds a half to its row: about as many bytes as in the keychain's
    /// format.
    private static func additionalData(_ half: Half, _ row: FloorRow) -> [UInt8] {
        var bytes = label
        bytes += row.uuid
        bytes += row.accessGroup
        bytes += [UInt8(truncatingIfNeeded: row.itemClass), UInt8(truncatingIfNeeded: row.protection), half.rawValue]
        withUnsafeBytes(of: row.revision.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    private static let label = Array("latchkey v1 item and a keychain's identifier".utf8)
    private static let wrappedKeyLength = 40
    /// The bytes that sealing adds to a plaintext: the wrapped key, the nonce and the tag.
    static let overhead = 40 + 12 + 16
}

/// The keys of both floors, 32 bytes each.
struct FloorKeys {
    let index: [UInt8]
    let secret: [UInt8]
    let metadata: [UInt8]

    static func random() -> FloorKeys {
        func key() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }
        return FloorKeys(index: key(), secret: key(), metadata: key())
    }
}
