// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Formats bytes that are not secret as base64.
enum Base64Text {
    static func of(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
