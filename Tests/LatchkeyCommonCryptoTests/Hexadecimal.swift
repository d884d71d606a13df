// SPDX-License-Identifier: Apache-2.0

import LinuxSystem

/// Returns the bytes of hexadecimal digits; spaces are ignored.
func bytes(_ digits: String) -> [UInt8] {
    Hexadecimal.bytes(digits.utf8.filter { $0 != UInt8(ascii: " ") }) ?? []
}

/// Two digits for each byte.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    Hexadecimal.text(bytes)
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
