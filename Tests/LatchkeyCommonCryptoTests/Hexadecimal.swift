// SPDX-License-Identifier: Apache-2.0

/// Returns the bytes of hexadecimal digits; spaces are ignored.
func bytes(_ digits: String) -> [UInt8] {
    let digits = digits.filter { !$0.isWhitespace }.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

/// Two digits for each byte.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Returns `count` random bytes, different in every run.
func randomBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in .random(in: .min ... .max) }
}

/// Returns `bytes` split at random positions, with some empty parts.
func randomParts(_ bytes: [UInt8]) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let part = rest.prefix(.random(in: 0...max(1, min(rest.count, 200))))
        parts.append(Array(part))
        rest = rest.dropFirst(part.count)
    }
    return parts
}
