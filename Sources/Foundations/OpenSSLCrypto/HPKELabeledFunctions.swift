// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// LabeledExtract and LabeledExpand with HKDF-SHA256 (RFC 9180, section 4). No output has more than
/// the 32 bytes of one block.
struct HPKELabeledFunctions {
    /// The algorithms that use the output.
    let suite: [UInt8]

    /// `LabeledExtract(salt, label, ikm) = HMAC(salt, "HPKE-v1" ‖ suite ‖ label ‖ ikm)`.
    func extract(_ label: String, salt: borrowing SecretBytes, _ input: borrowing SecretBytes) -> SecretBytes {
        let head = Self.version + suite + Array(label.utf8)
        let message = SecretBytes(count: head.count + input.count) { buffer in
            buffer[..<head.count].copyBytes(from: head)
            input.withUnsafeBytes { buffer[head.count...].copyBytes(from: $0) }
        }
        return SecretBytes(count: HMACKey.codeByteCount) { output in
            message.withUnsafeBytes { message in
                salt.withUnsafeBytes { HMACKey($0).writeCode(of: message, to: output) }
            }
        }
    }

    /// `LabeledExpand(key, label, info, count)`: the first bytes of
    /// `HMAC(key, be16 count ‖ "HPKE-v1" ‖ suite ‖ label ‖ info ‖ 1)`.
    func expand(_ key: borrowing SecretBytes, _ label: String, info: [UInt8], count: Int) -> SecretBytes {
        let message = UInt16(count).bigEndianBytes + Self.version + suite + Array(label.utf8) + info + [1]
        return key.withUnsafeBytes { key in
            SecretBytes(count: HMACKey.codeByteCount) { block in
                message.withUnsafeBytes { HMACKey(key).writeCode(of: $0, to: block) }
            }
            .withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        }
    }

    private static let version = Array("HPKE-v1".utf8)
}
