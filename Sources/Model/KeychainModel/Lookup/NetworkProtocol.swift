// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Protocols by their names in URLs, as in lookup attributes, and by Apple's four letters, as in `kSecAttrProtocol`.
enum NetworkProtocol {
    /// The name of a value of `kSecAttrProtocol`; nil for a value that is not four printable letters.
    static func name(_ value: AttributeValue) -> String? {
        guard let code = letters(value) else { return nil }
        if let known = names[code] { return known }
        var text = code[...]
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }

    /// The four letters for a name; nil for one that is unknown, and too long to be its own code.
    static func code(_ name: String) -> String? {
        if let known = codes[name] { return known }
        guard (1...4).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        return name + String(repeating: " ", count: 4 - name.utf8.count)
    }

    /// The letters of a string, or of Apple's code as a number.
    private static func letters(_ value: AttributeValue) -> String? {
        let bytes: [UInt8]
        switch value {
        case .string(let text): bytes = Array(text.utf8)
        case .data(let data): bytes = data
        case .number(let number): bytes = UInt32(exactly: number).map(\.bigEndianBytes) ?? []
        case .date: return nil
        }
        guard bytes.count == 4, bytes.allSatisfy({ (0x20...0x7E).contains($0) }), bytes.first != 0x20 else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names that are longer than four letters, or differ from the code.
    private static let codes = [
        "https": "htps", "imaps": "imps", "ldaps": "ldps", "pop3s": "pops", "nntps": "ntps", "socks": "sox ",
        "telnet": "teln", "telnets": "tels",
    ]
    private static let names = Dictionary(uniqueKeysWithValues: codes.map { ($0.value, $0.key) })
}
