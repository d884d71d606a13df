// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import OpenSSLCrypto
internal import SecretMemory

/// Every primitive that the store calls: AES-256-GCM (NIST SP 800-38D) for halves, HMAC-SHA-256 (RFC 2104) for search tokens.
enum RowCryptography {
    /// The bytes a seal adds: a nonce of 12 and a tag of 16.
    static let overhead = 28

    /// Pads and seals `content` under `key`: `nonce(12) ‖ ciphertext ‖ tag(16)`. The nonce is random, and the key is used this once.
    static func seal(_ content: UnsafeRawBufferPointer, key: SymmetricKey, additionalData: [UInt8]) throws(StoreError)
        -> [UInt8]
    {
        let padded = SecretBytes(count: Padding.paddedLength(for: content.count)) { buffer in
            buffer.storeBytes(of: UInt32(content.count).bigEndian, as: UInt32.self)
            buffer[Padding.prefixLength..<Padding.prefixLength + content.count].copyBytes(from: content)
        }
        do {
            return try padded.withUnsafeBytes { bytes in
                let box = try AES.GCM.seal(BorrowedBytes(bytes), using: key, authenticating: additionalData)
                return Array(box.nonce) + box.ciphertext + box.tag
            }
        } catch {
            throw .database(code: 1, message: "a row could not be sealed: \(error)")
        }
    }

    /// Opens what ``seal(_:key:additionalData:)`` made and lends the content to `body`.
    static func open<Result>(
        _ sealed: ArraySlice<UInt8>, key: SymmetricKey, additionalData: [UInt8],
        _ body: (UnsafeRawBufferPointer) throws(RowDamage) -> Result
    ) throws(RowDamage) -> Result {
        guard sealed.count >= overhead else { throw RowDamage("a half is cut short") }
        var padded: Data
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            padded = try AES.GCM.open(box, using: key, authenticating: additionalData)
        } catch {
            throw RowDamage("a half does not authenticate")
        }
        // swift-crypto answers in ordinary memory, which is wiped in place before it is given back.
        defer { padded.wipe() }
        return try padded.withBorrowedBytes { (bytes) throws(RowDamage) in try body(try Padding.content(of: bytes)) }
    }

    // MARK: Backups

    /// Seals a chunk of a backup: `ciphertext ‖ tag(16)`. No nonce may serve a key twice.
    static func sealChunk(_ content: UnsafeRawBufferPointer, key: SymmetricKey, nonce: [UInt8]) throws(StoreError)
        -> [UInt8]
    {
        do {
            let box = try AES.GCM.seal(BorrowedBytes(content), using: key, nonce: AES.GCM.Nonce(data: nonce))
            return Array(box.ciphertext) + box.tag
        } catch {
            throw .database(code: 1, message: "a part of the backup could not be sealed: \(error)")
        }
    }

    /// Opens what ``sealChunk(_:key:nonce:)`` made; false where it is not that.
    static func openChunk(_ sealed: [UInt8], key: SymmetricKey, nonce: [UInt8], into buffer: WipedBuffer) -> Bool {
        let end = sealed.count - 16
        guard end >= 0, let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: sealed[..<end], tag: sealed[end...]),
            var content = try? AES.GCM.open(box, using: key)
        else { return false }
        defer { content.wipe() }
        return content.withUnsafeBytes { buffer.append($0) == $0.count }
    }

    /// Seals an item that may be restored on this device only: `nonce(12) ‖ ciphertext ‖ tag(16)`, the nonce random.
    static func sealItem(_ content: UnsafeRawBufferPointer, key: SymmetricKey) throws(StoreError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(BorrowedBytes(content), using: key)
            return Array(box.nonce) + box.ciphertext + box.tag
        } catch {
            throw .database(code: 1, message: "an item of the backup could not be sealed: \(error)")
        }
    }

    /// Opens what ``sealItem(_:key:)`` made and lends it to `body`; nil where it was made on another device.
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

    /// The index key, made ready for many tokens; for the duration of one transaction.
    struct TokenKey {
        private let prepared: HMAC<SHA256>

        init(_ key: UnsafeRawBufferPointer) {
            prepared = HMAC<SHA256>(key: SymmetricKey(data: key))
        }

        /// The first 16 bytes of `HMAC-SHA-256(index key, message)`.
        func token(_ message: [UInt8]) -> [UInt8] {
            var code = prepared
            code.update(data: message)
            return code.finalize().withUnsafeBytes { Array($0.prefix(tokenLength)) }
        }
    }

    static let tokenLength = 16

    /// SHA-1, which `kSecAttrSHA1` promises callers. It protects nothing, and is never stored. nil where libcrypto forbids it.
    static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        try? SHA1.digest(of: bytes)
    }
}

/// Lends bytes to swift-crypto without a copy.
private struct BorrowedBytes: DataProtocol, ContiguousBytes, RandomAccessCollection {
    let bytes: UnsafeRawBufferPointer
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var startIndex: Int { bytes.startIndex }
    var endIndex: Int { bytes.endIndex }
    subscript(index: Int) -> UInt8 { bytes[index] }
    subscript(range: Range<Int>) -> Slice<BorrowedBytes> { Slice(base: self, bounds: range) }
    var regions: CollectionOfOne<BorrowedBytes> { CollectionOfOne(self) }
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(bytes)
    }
}

extension Data {
    /// Lends the bytes, with typed errors.
    fileprivate func withBorrowedBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(RowDamage) -> Result)
        throws(RowDamage) -> Result
    {
        let outcome: Swift.Result<Result, RowDamage> = withUnsafeBytes { bytes in
            do throws(RowDamage) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Overwrites the bytes where they lie. The value is the only owner of its storage, so nothing is copied first.
    fileprivate mutating func wipe() {
        withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }
}
