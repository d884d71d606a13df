// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SecretMemory

/// Encrypts or decrypts one message, given in parts of any length, with a block cipher.
///
/// There is no authentication: a change of the ciphertext changes the plaintext undetected. Use it
/// only for formats that others have defined, and ``AESGCM`` for everything else. Not thread-safe.
/// libcrypto wipes the key when the object is destroyed.
public final class BlockCipher {
    public enum Direction: Sendable {
        case encrypt, decrypt
    }

    public let kind: CipherKind
    public let direction: Direction
    /// Whether the message is padded to whole blocks (PKCS #7, RFC 5652, 6.3). Never with a stream
    /// cipher.
    public let isPadded: Bool

    private let context: OpaquePointer
    /// The number of input bytes that were consumed and not yet output: at most one block.
    private var heldCount = 0
    /// The last block of a padded message while the caller's buffer is too small for it, and how many of its bytes
    /// count. It is not in secret memory, because a forked child does not have that: the caller's ordinary memory gets
    /// the same bytes.
    private var lastBlock = InlineArray<16, UInt8>(repeating: 0)
    private var lastCount: Int?
    private var isFinished = false

    /// - Parameters:
    ///   - key: `kind.keyByteCount` bytes.
    ///   - vector: one block; nil for zeros. ECB has none.
    /// - Throws: ``CipherError/unsupported`` if libcrypto does not have the cipher, or if the key
    ///   has another size.
    public init(
        _ kind: CipherKind, _ direction: Direction, isPadded: Bool, key: UnsafeRawBufferPointer,
        vector: UnsafeRawBufferPointer?
    ) throws(CipherError) {
        guard key.count == kind.keyByteCount, let cipher = EVP_CIPHER_fetch(nil, kind.name, nil) else {
            ERR_clear_error()
            throw .unsupported
        }
        defer { EVP_CIPHER_free(cipher) }
        guard let context = EVP_CIPHER_CTX_new() else { throw .failed(.last("preparing a cipher")) }
        self.kind = kind
        self.direction = direction
        self.isPadded = isPadded && !kind.isStream
        self.context = context
        try start(cipher, key: key, vector: vector)
    }

    deinit {
        forgetLastBlock()
        EVP_CIPHER_CTX_free(context)
    }

    /// Returns the number of bytes that ``update(with:into:)`` writes for `count` bytes of input;
    /// if `isFinal`, the maximum that it and ``finish(into:)`` write together. nil if the number
    /// overflows.
    public func outputCount(for count: Int, isFinal: Bool) -> Int? {
        let (total, isTooLarge) = count.addingReportingOverflow(heldCount)
        guard count >= 0, !isTooLarge else { return nil }
        if kind.isStream { return count }
        let size = kind.blockByteCount
        let wholeBlocks = total - total % size
        switch (isPadded, direction, isFinal) {
        case (false, _, _), (true, .encrypt, false): return wholeBlocks
        case (true, .encrypt, true):
            let (padded, isTooLarge) = wholeBlocks.addingReportingOverflow(size)
            return isTooLarge ? nil : padded
        // The last whole block may contain padding, so it is held back.
        case (true, .decrypt, false): return wholeBlocks == total ? max(total - size, 0) : wholeBlocks
        case (true, .decrypt, true): return total
        }
    }

    /// Processes `input` and returns the number of bytes written. The buffers may be the same
    /// memory while no bytes are held back: for a stream cipher, and for the first part of a
    /// message.
    ///
    /// - Throws: ``CipherError/outputTooSmall(needed:)``, and no input is consumed;
    ///   ``CipherError/finished`` after the end.
    public func update(with input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer)
        throws(CipherError) -> Int
    {
        guard !isFinished, lastCount == nil else { throw .finished }
        guard let expected = outputCount(for: input.count, isFinal: false) else { throw .tooLong }
        guard expected <= output.count else { throw .outputTooSmall(needed: expected) }
        var taken = 0
        var written = 0
        while taken < input.count {
            let count = min(input.count - taken, Self.maxPart)
            written += try updatePart(
                with: UnsafeRawBufferPointer(rebasing: input[taken..<taken + count]),
                into: UnsafeMutableRawBufferPointer(rebasing: output[written...]))
            taken += count
        }
        guard written == expected else {
            throw .failed(OpenSSLError(message: "the cipher wrote \(written) bytes, expected \(expected)"))
        }
        return written
    }

    /// Ends the message and writes its remaining bytes; returns their number. A cipher without padding can continue
    /// afterwards, and so can ECB, because its blocks are independent.
    ///
    /// - Throws: ``CipherError/unaligned``, ``CipherError/badPadding``,
    ///   ``CipherError/finished``; ``CipherError/outputTooSmall(needed:)``: the call can then be repeated.
    public func finish(into output: UnsafeMutableRawBufferPointer) throws(CipherError) -> Int {
        guard !isFinished else { throw .finished }
        if kind.isStream { return 0 }
        let size = kind.blockByteCount
        if !isPadded || direction == .decrypt { guard heldCount % size == 0 else { throw .unaligned } }
        guard isPadded else { return 0 }
        if direction == .encrypt { guard output.count >= size else { throw .outputTooSmall(needed: size) } }
        // `??` would not keep the typed throw.
        let count = if let lastCount { lastCount } else { try readLastBlock() }
        guard count <= output.count else { throw .outputTooSmall(needed: count) }
        withUnsafeBytes(of: lastBlock) { output.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        forgetLastBlock()
        heldCount = 0
        if kind.mode == .ecb { try restart(vector: nil) } else { isFinished = true }
        return count
    }

    /// Begins another message with the same key. Bytes held back from the previous message are
    /// discarded.
    ///
    /// - Parameter vector: as in ``init(_:_:isPadded:key:vector:)``.
    public func restart(vector: UnsafeRawBufferPointer?) throws(CipherError) {
        heldCount = 0
        forgetLastBlock()
        isFinished = false
        try start(nil, key: nil, vector: vector)
    }

    // MARK: libcrypto

    /// EVP counts in Int32. This is a multiple of every block size.
    private static let maxPart = 1 << 30

    private func start(
        _ cipher: OpaquePointer?, key: UnsafeRawBufferPointer?, vector: UnsafeRawBufferPointer?
    ) throws(CipherError) {
        let size = kind.blockByteCount
        var block = InlineArray<16, UInt8>(repeating: 0)
        // ECB has no vector: the caller's pointer may not even be readable.
        if let vector, kind.mode != .ecb {
            guard vector.count == size else { throw .unsupported }
            withUnsafeMutableBytes(of: &block) { $0.copyMemory(from: vector) }
        }
        let isEncrypting: Int32 = direction == .encrypt ? 1 : 0
        let status = withUnsafeBytes(of: block) { block in
            withTripled(key) {
                EVP_CipherInit_ex(context, cipher, nil, $0, kind.mode == .ecb ? nil : block.octets, isEncrypting)
            }
        }
        guard status == 1, EVP_CIPHER_CTX_set_padding(context, isPadded ? 1 : 0) == 1 else {
            throw .failed(.last("preparing a cipher"))
        }
    }

    /// Calls `body` with the key in libcrypto's form: a DES key is repeated three times.
    private func withTripled(_ key: UnsafeRawBufferPointer?, _ body: (UnsafePointer<UInt8>?) -> Int32) -> Int32 {
        guard kind.algorithm == .des, let key else { return body(key?.octets) }
        var tripled = InlineArray<24, UInt8>(repeating: 0)
        return withUnsafeMutableBytes(of: &tripled) { tripled in
            defer { SecretBytes.wipe(tripled) }
            for index in tripled.indices { tripled[index] = key[index % key.count] }
            return body(UnsafeRawBufferPointer(tripled).octets)
        }
    }

    private func updatePart(
        with input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CipherError) -> Int {
        guard let expected = outputCount(for: input.count, isFinal: false), expected <= output.count else {
            throw .tooLong
        }
        var none: UInt8 = 0
        var length: Int32 = 0
        let status = withUnsafeMutablePointer(to: &none) { none in
            // libcrypto requires a pointer even if it writes nothing.
            let target = output.assumingMemoryBound(to: UInt8.self).baseAddress ?? none
            return EVP_CipherUpdate(context, target, &length, input.octets, Int32(input.count))
        }
        guard status == 1, Int(length) == expected else { throw .failed(.last("the cipher")) }
        if !kind.isStream { heldCount += input.count - expected }
        return expected
    }

    /// Reads the last block of a padded message, encrypted, or decrypted and without its padding;
    /// returns the number of its bytes.
    private func readLastBlock() throws(CipherError) -> Int {
        var length: Int32 = 0
        let status = withUnsafeMutableBytes(of: &lastBlock) { block in
            EVP_CipherFinal_ex(context, block.assumingMemoryBound(to: UInt8.self).baseAddress, &length)
        }
        guard status == 1, (0...kind.blockByteCount).contains(Int(length)) else {
            ERR_clear_error()
            forgetLastBlock()
            heldCount = 0
            if kind.mode == .ecb { try restart(vector: nil) } else { isFinished = true }
            throw .badPadding
        }
        lastCount = Int(length)
        return Int(length)
    }

    private func forgetLastBlock() {
        lastCount = nil
        withUnsafeMutableBytes(of: &lastBlock) { SecretBytes.wipe($0) }
    }
}
