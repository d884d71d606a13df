// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretMemory

/// JSON with a secret, assembled in secret memory only.
enum SecretJSON {
    /// Returns `head`, the secret as a further member, and the end of the document.
    static func document(after head: String, _ secret: SharedSecret) -> SecretBytes {
        var count = 0
        // Each byte of a secret becomes at most six.
        let document = SecretBytes(count: head.utf8.count + secret.count * 6 + 64) { buffer in
            func put(_ unit: UInt8) {
                buffer[count] = unit
                count += 1
            }
            head.utf8.forEach(put)
            secret.withUnsafeBytes { bytes in
                let start = count
                ",\n  \"secret\" : \"".utf8.forEach(put)
                guard !appendText(bytes, put) else { return }
                count = start
                ",\n  \"secretBase64\" : \"".utf8.forEach(put)
                count += Base64.write(bytes, to: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            }
            "\"\n}\n".utf8.forEach(put)
        }
        return document.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }

    /// Passes the characters of a JSON string (RFC 8259, section 7) to `put`.
    ///
    /// - Returns: false if the bytes are not UTF-8.
    private static func appendText(_ bytes: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) -> Bool {
        var decoder = UTF8()
        var rest = bytes.makeIterator()
        while true {
            switch decoder.decode(&rest) {
            case .scalarValue(let scalar) where scalar == "\"" || scalar == "\\":
                put(UInt8(ascii: "\\"))
                put(UInt8(truncatingIfNeeded: scalar.value))
            case .scalarValue(let scalar) where PrintableText.isPrintable(scalar): UTF8.encode(scalar)?.forEach(put)
            case .scalarValue(let scalar): UTF16.encode(scalar)?.forEach { escape($0, put) }
            case .emptyInput: return true
            case .error: return false
            }
        }
    }

    private static func escape(_ unit: UInt16, _ put: (UInt8) -> Void) {
        "\\u".utf8.forEach(put)
        for shift in [12, 8, 4, 0] as [UInt16] { put(Hexadecimal.digit(UInt8(truncatingIfNeeded: unit >> shift))) }
    }
}
