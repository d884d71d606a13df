// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// HMAC-SHA-256 of messages and files. The key and the state stay in secret memory.
enum MessageCode {
    static let byteCount = HMACKey.codeByteCount
    /// Shorter keys have less strength than the code (RFC 2104, section 3).
    static let minKeyLength = 32

    static func code(of message: [UInt8], _ key: SharedSecret) throws(KeychainError) -> [UInt8] {
        let stream = try Stream(key)
        message.withUnsafeBytes { stream.update(with: $0) }
        return stream.finish()
    }

    /// Whether the code is right; compared in constant time.
    static func isCode(_ code: [UInt8], of message: [UInt8], _ key: SharedSecret) throws(KeychainError) -> Bool {
        areEqual(code, try self.code(of: message, key))
    }

    /// Compares in a time that depends only on the lengths.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        SecretBytes(left).isEqual(to: SecretBytes(right))
    }

    /// A code that is computed in parts.
    struct Stream: ~Copyable {
        /// An ``HMACState``, as secret as the key.
        private let memory = SecretBuffer(count: MemoryLayout<HMACState>.size)

        init(_ key: SharedSecret) throws(KeychainError) {
            guard key.count >= MessageCode.minKeyLength else {
                throw KeychainError(
                    .keySizeNotAllowed,
                    "a key for HMAC must have at least \(MessageCode.minKeyLength) bytes, found \(key.count)")
            }
            // A pointer and not a buffer: the size of the state is less than its stride.
            memory.withUnsafeMutableBytes { memory in
                let state = memory.baseAddress?.initializeMemory(as: HMACState.self, to: HMACState())
                key.withUnsafeBytes { state?.pointee.start(.sha256, key: $0) }
            }
        }

        borrowing func update(with bytes: UnsafeRawBufferPointer) {
            memory.withUnsafeMutableBytes { memory in
                memory.baseAddress?.assumingMemoryBound(to: HMACState.self).pointee.update(with: bytes)
            }
        }

        /// Returns the code, and wipes the state.
        borrowing func finish() -> [UInt8] {
            var code = [UInt8](repeating: 0, count: MessageCode.byteCount)
            code.withUnsafeMutableBufferPointer { code in
                guard let start = code.baseAddress else { return }
                memory.withUnsafeMutableBytes { memory in
                    memory.baseAddress?.assumingMemoryBound(to: HMACState.self).pointee.finish(into: start)
                }
            }
            return code
        }
    }
}
