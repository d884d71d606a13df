// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// A key of HMAC-SHA-256 (RFC 2104) that is prepared once for many codes.
///
/// It is the state of both hashes after their first blocks, in secret memory. Preparing it costs two blocks of SHA-256;
/// each code then saves them.
public struct HMACKey: ~Copyable, Sendable {
    /// An ``HMACState`` that was started with the key.
    private let started: SecretBytes

    /// The length of a code in bytes.
    public static let codeByteCount = DigestFunction.sha256.byteCount

    /// - Parameter key: of any length.
    public init(_ key: UnsafeRawBufferPointer) {
        started = SecretBytes(count: MemoryLayout<HMACState>.size) { memory in
            // A pointer and not a buffer: the size of the state is less than its stride.
            memory.baseAddress?.initializeMemory(as: HMACState.self, to: HMACState()).pointee.start(.sha256, key: key)
        }
    }

    /// Writes the code of `message` to `code`.
    ///
    /// - Parameter code: at least ``codeByteCount`` bytes.
    public borrowing func writeCode(of message: UnsafeRawBufferPointer, to code: UnsafeMutableRawBufferPointer) {
        var state = HMACState()
        started.withUnsafeBytes { started in withUnsafeMutableBytes(of: &state) { $0.copyMemory(from: started) } }
        state.update(with: message)
        state.finish(into: code)
    }
}

extension HMACState {
    /// Does the same as ``finish(into:)-(UnsafeMutablePointer<UInt8>)``.
    ///
    /// - Parameter code: at least as long as a digest of the function.
    mutating func finish(into code: UnsafeMutableRawBufferPointer) {
        let count = DigestFunction(rawValue: functionNumber)?.byteCount ?? 0
        precondition(code.count >= count, "the memory for a code is too short")
        code.withMemoryRebound(to: UInt8.self) { code in
            guard let start = code.baseAddress else { return }
            finish(into: start)
        }
    }
}
