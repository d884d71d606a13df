// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// Collects the data of an answer, decoded, in secret memory.
struct AssuanSecret: ~Copyable {
    private let buffer = SecretBuffer(count: maxLength)
    private var count = 0

    /// Decodes one line's data: `%` and two hexadecimal digits are one byte.
    mutating func append(_ data: UnsafeRawBufferPointer) throws(PinentryError) {
        var bytes = data.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                try append(byte)
                continue
            }
            guard let high = bytes.next(), let low = bytes.next(),
                let decoded = Hexadecimal.byte(high, low, letters: .any)
            else { throw .unexpected("the data has an escape that is not % and two hexadecimal digits") }
            try append(decoded)
        }
    }

    /// Returns the secret.
    ///
    /// - Throws: ``PinentryError/unexpected(_:)`` if it is not UTF-8.
    consuming func end() throws(PinentryError) -> SharedSecret {
        let count = count
        let secret = buffer.withUnsafeMutableBytes {
            SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))))
        }
        guard secret.withUnsafeBytes(Self.isText) else { throw .unexpected("the answer is not UTF-8 text") }
        return secret
    }

    private mutating func append(_ byte: UInt8) throws(PinentryError) {
        let position = count
        let isStored = buffer.withUnsafeMutableBytes { memory in
            guard memory.indices.contains(position) else { return false }
            memory[position] = byte
            return true
        }
        guard isStored else { throw .unexpected("the answer has more than \(Self.maxLength) bytes") }
        count += 1
    }

    /// Whether the bytes are UTF-8. No string is made, because its memory would not be wiped.
    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid: continue
            case .error: return false
            case .emptyInput: return true
            }
        }
    }

    /// The maximum number of bytes, the same as for a passcode.
    static let maxLength = 1024
}
