// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A response of a TPM with a checked length: a header of 10 bytes (tag, size, code), then `size - 10` bytes (TCG TPM
/// 2.0 Library, part 1, section 18).
struct ResponseFrame {
    let bytes: [UInt8]

    static let headerLength = 10
    /// The longest response of a TPM: TPM2_MAX_RESPONSE_SIZE.
    static let maxLength = 4096

    /// - Throws: ``TPMError/invalidResponse(_:)`` unless the bytes are exactly one response.
    init(_ bytes: [UInt8]) throws(TPMError) {
        guard let length = try Self.length(bytes), length == bytes.count else {
            throw .invalidResponse("it has \(bytes.count) bytes, and its header says another length")
        }
        self.bytes = bytes
    }

    /// The length of the whole response; nil before the header is complete.
    static func length(_ received: [UInt8]) throws(TPMError) -> Int? {
        var fields = FieldReader(received)
        guard received.count >= headerLength, let tag: UInt16 = fields.number(), let size: UInt32 = fields.number()
        else { return nil }
        // Without and with sessions. The tag of an error of TPM 1.2 is refused as well.
        guard tag == 0x8001 || tag == 0x8002 else { throw .invalidResponse("unknown tag \(tag)") }
        guard let length = Int(exactly: size), headerLength...maxLength ~= length else {
            throw .invalidResponse("its header says \(size) bytes")
        }
        return length
    }
}
