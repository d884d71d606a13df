// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import Keybag
internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// The cryptographic primitives of the store: AES-256-GCM (NIST SP 800-38D) and digests.
enum RowCryptography {
    /// The bytes that sealing adds: a nonce of 12 and a tag of 16.
    static let overhead = 28

    /// Returns a new key for a half of a row. One request to the kernel fills it, not one for each eight bytes.
    static func randomKey() -> SymmetricKey {
        SecretBytes.random(count: 32).withUnsafeBytes { SymmetricKey(data: $0) }
    }

    /// Pads `content`, seals it under `key`, and appends it to `sealed`: `nonce(12) ‖ ciphertext ‖ tag(16)`. The nonce
    /// is random, and each key seals only once.
    static func seal(
        _ content: UnsafeRawBufferPointer, key: SymmetricKey, additionalData: [UInt8], appendingTo sealed: inout [UInt8]
    ) throws(StoreError) {
        let padded = SecretBytes(count: Padding.paddedLength(for: content.count)) { buffer in
            buffer.storeBytes(of: UInt32(content.count).bigEndian, as: UInt32.self)
            buffer[Padding.prefixLength..<Padding.prefixLength + content.count].copyBytes(from: content)
        }
        let nonce = RandomBytes.array(count: 12)
        do {
            let box = try padded.withUnsafeBytes { bytes in
                try additionalData.withUnsafeBytes { additionalData in
                    try AES.GCM.seal(
                        BorrowedBytes(bytes), using: key, nonce: AES.GCM.Nonce(data: nonce),
                        authenticating: BorrowedBytes(additionalData))
                }
            }
            sealed.reserveCapacity(sealed.count + overhead + padded.count)
            sealed += nonce
            sealed += box.ciphertext
            sealed += box.tag
        } catch {
            throw .database(code: 1, message: "cannot seal a row: \(error)")
        }
    }

    /// Opens the bytes that ``seal(_:key:additionalData:appendingTo:)`` returned, and calls `body` with the
    /// content.
    static func open<Result>(
        _ sealed: ArraySlice<UInt8>, key: SymmetricKey, additionalData: [UInt8],
        _ body: (UnsafeRawBufferPointer) throws(RowDamage) -> Result
    ) throws(RowDamage) -> Result {
        guard sealed.count >= overhead else { throw RowDamage("a row half is truncated") }
        var padded: Data
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            padded = try additionalData.withUnsafeBytes {
                try AES.GCM.open(box, using: key, authenticating: BorrowedBytes($0))
            }
        } catch {
            throw RowDamage("a row half does not authenticate")
        }
        // swift-crypto returns the plaintext in ordinary memory; wipe it in place before it is
        // released.
        defer { padded.wipe() }
        return try padded.withBorrowedBytes { (bytes) throws(RowDamage) in try body(try Padding.content(of: bytes)) }
    }

    // MARK: Backups

    /// Seals a chunk of a backup: `ciphertext ‖ tag(16)`. A nonce must not be used twice with one
    /// key.
    static func sealChunk(_ content: UnsafeRawBufferPointer, key: SymmetricKey, nonce: [UInt8]) throws(StoreError)
        -> [UInt8]
    {
        do {
            let box = try AES.GCM.seal(BorrowedBytes(content), using: key, nonce: AES.GCM.Nonce(data: nonce))
            return Array(box.ciphertext) + box.tag
        } catch {
            throw .database(code: 1, message: "cannot seal a backup chunk: \(error)")
        }
    }

    /// Opens the bytes that ``sealChunk(_:key:nonce:)`` returned; returns false if they do not
    /// authenticate.
    static func openChunk(_ sealed: [UInt8], key: SymmetricKey, nonce: [UInt8], into buffer: WipedBuffer) -> Bool {
        let end = sealed.count - 16
        guard end >= 0, let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: sealed[..<end], tag: sealed[end...]),
            var content = try? AES.GCM.open(box, using: key)
        else { return false }
        defer { content.wipe() }
        return content.withUnsafeBytes { buffer.append($0) == $0.count }
    }

    /// Seals an item that can be restored on this device only: `nonce(12) ‖ ciphertext ‖ tag(16)`,
    /// with a random nonce.
    static func sealItem(_ content: UnsafeRawBufferPointer, key: SymmetricKey) throws(StoreError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(BorrowedBytes(content), using: key)
            return Array(box.nonce) + box.ciphertext + box.tag
        } catch {
            throw .database(code: 1, message: "cannot seal a backup item: \(error)")
        }
    }

    /// Opens the bytes that ``sealItem(_:key:)`` returned, and calls `body` with the content;
    /// returns nil if they were sealed on another device.
    static func openItem<Result>(
        _ sealed: UnsafeRawBufferPointer, key: SymmetricKey,
        _ body: (UnsafeRawBufferPointer) throws(RowDamage) -> Result
    ) throws(RowDamage) -> Result? {
        guard sealed.count >= overhead, let box = try? AES.GCM.SealedBox(combined: BorrowedBytes(sealed)),
            var content = try? AES.GCM.open(box, using: key)
        else { return nil }
        defer { content.wipe() }
        return try content.withBorrowedBytes(body)
    }

    /// SHA-256.
    static func strongDigest(_ bytes: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: bytes))
    }

    /// Returns the SHA-1 digest for the attribute `kSecAttrSHA1`. It protects nothing, and is never
    /// stored.
    static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        SHA1.digest(of: bytes)
    }
}

extension Data {
    /// Calls `body` with the bytes, with typed errors.
    fileprivate func withBorrowedBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(RowDamage) -> Result)
        throws(RowDamage) -> Result
    {
        let outcome: Swift.Result<Result, RowDamage> = withUnsafeBytes { bytes in
            do throws(RowDamage) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Overwrites the bytes in place. The value is the only owner of its storage, so the access
    /// does not copy it.
    fileprivate mutating func wipe() {
        withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }
}
