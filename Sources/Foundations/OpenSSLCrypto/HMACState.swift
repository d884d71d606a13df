// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// The state of an HMAC (RFC 2104) between two parts of a message, as plain bytes that can be
/// copied, like ``HashState``.
///
/// It is as secret as the key; ``finish(into:)`` wipes it.
public struct HMACState: BitwiseCopyable, Sendable {
    private var inner = HashState()
    private var outer = HashState()
    /// The raw value of a ``DigestFunction``; any other number if no message was started. It is a
    /// number, because the memory may contain anything.
    ///
    /// The mutating functions read it directly: a call of ``function`` passes a copy of the state on
    /// the stack if it is not inlined, and nothing would wipe the copy.
    private(set) var functionNumber: UInt32 = 0

    public init() {}

    /// The hash function; nil if no message was started.
    public var function: DigestFunction? { DigestFunction(rawValue: functionNumber) }

    /// Starts a message. The key may have any length; one that is longer than a block of the
    /// function is hashed first.
    public mutating func start(_ function: DigestFunction, key: UnsafeRawBufferPointer) {
        var block = InlineArray<128, UInt8>(repeating: 0)
        withUnsafeMutableBytes(of: &block) { block in
            let block = UnsafeMutableRawBufferPointer(rebasing: block.prefix(function.blockByteCount))
            Self.fill(block, with: key, for: function)
            block.xor(with: 0x36)
            inner.start(function)
            inner.update(function, with: UnsafeRawBufferPointer(block))
            block.xor(with: 0x36 ^ 0x5c)
            outer.start(function)
            outer.update(function, with: UnsafeRawBufferPointer(block))
            SecretBytes.wipe(block)
        }
        functionNumber = function.rawValue
    }

    /// Continues the message with `bytes`; does nothing if no message was started.
    public mutating func update(with bytes: UnsafeRawBufferPointer) {
        guard let function = DigestFunction(rawValue: functionNumber) else { return }
        inner.update(function, with: bytes)
    }

    /// Ends the message, writes its code of `function.byteCount` bytes to `code`, and wipes the
    /// state. Writes nothing if no message was started.
    public mutating func finish(into code: UnsafeMutablePointer<UInt8>) {
        guard let function = DigestFunction(rawValue: functionNumber) else { return }
        var digest = InlineArray<64, UInt8>(repeating: 0)
        withUnsafeMutableBytes(of: &digest) { digest in
            let digest = UnsafeMutableRawBufferPointer(rebasing: digest.prefix(function.byteCount))
            digest.withMemoryRebound(to: UInt8.self) { digest in
                guard let start = digest.baseAddress else { return }
                inner.finish(function, into: start)
            }
            outer.update(function, with: UnsafeRawBufferPointer(digest))
            outer.finish(function, into: code)
            SecretBytes.wipe(digest)
        }
        wipe()
    }

    /// Overwrites the state; afterwards no message is started.
    public mutating func wipe() {
        withUnsafeMutableBytes(of: &self) { SecretBytes.wipe($0) }
    }

    /// Writes the key, or the digest of a key that is longer than `block`; the rest stays zero.
    private static func fill(
        _ block: UnsafeMutableRawBufferPointer, with key: UnsafeRawBufferPointer, for function: DigestFunction
    ) {
        guard key.count > block.count else { return block.copyMemory(from: key) }
        var state = HashState()
        state.start(function)
        state.update(function, with: key)
        block.withMemoryRebound(to: UInt8.self) { block in
            guard let start = block.baseAddress else { return }
            state.finish(function, into: start)
        }
        withUnsafeMutableBytes(of: &state) { SecretBytes.wipe($0) }
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func xor(with byte: UInt8) {
        for index in indices { self[index] ^= byte }
    }
}
