// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Percent-encoding (RFC 3986 section 2.1).
enum PercentEncoding {
    /// The characters that never need it (section 2.3).
    static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// Encodes all bytes but the `kept` ones.
    static func text(_ text: String, keeping kept: Set<UInt8> = unreserved) -> String {
        text.utf8.map { byte in
            kept.contains(byte) ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.text(byte, isUppercase: true)
        }.joined()
    }
}
