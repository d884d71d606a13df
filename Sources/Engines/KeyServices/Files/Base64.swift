// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// Base64 (RFC 4648) of secrets. Input and output are only in secret memory.
enum Base64 {
    /// Decodes padded base64; returns nil for anything else.
    static func decoded(_ text: UnsafeRawBufferPointer) -> SharedSecret? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var isValid = text.isEmpty || padding == 0 || text.last == UInt8(ascii: "=")
        let decoded = SecretBytes(count: text.count / 4 * 3 - padding) { output in
            var (bits, count, position) = (UInt32(0), 0, 0)
            for byte in text.dropLast(padding) {
                guard let value = value(of: byte) else {
                    isValid = false
                    return
                }
                bits = bits << 6 | UInt32(value)
                count += 6
                guard count >= 8 else { continue }
                count -= 8
                output[position] = UInt8(truncatingIfNeeded: bits >> UInt32(count))
                position += 1
            }
            // The remaining bits must be zero.
            if bits & (1 << UInt32(count) - 1) != 0 { isValid = false }
        }
        return isValid ? SharedSecret(decoded) : nil
    }

    static func encoded(_ secret: SharedSecret) -> SharedSecret {
        secret.withUnsafeBytes { bytes in
            SharedSecret(
                SecretBytes(count: (bytes.count + 2) / 3 * 4) { output in
                    var position = 0
                    for start in stride(from: 0, to: bytes.count, by: 3) {
                        let group = bytes[start..<min(start + 3, bytes.count)]
                        let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
                        for index in 0..<4 {
                            let value = UInt8(truncatingIfNeeded: bits >> UInt32(18 - 6 * index)) & 0x3F
                            output[position] = index <= group.count ? character(of: value) : UInt8(ascii: "=")
                            position += 1
                        }
                    }
                })
        }
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static func character(of value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }
}
