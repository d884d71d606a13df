// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The bytes of a property list's `data` element.
enum PropertyListData {
    /// Decodes base64; nil if the text, without XML's white space, is not valid.
    static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return Data(base64Encoded: Data(digits)).map(Array.init)
    }
}
