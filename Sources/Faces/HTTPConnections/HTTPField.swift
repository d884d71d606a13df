// SPDX-License-Identifier: Apache-2.0

/// A field of a request or a response.
package struct HTTPField: Hashable, Sendable {
    package let name: String
    package let value: String

    /// Nil if the name is not a token (RFC 9110, section 5.6.2), or the value has a control character
    /// other than a tab.
    package init?(_ name: String, _ value: String) {
        guard Self.isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            return nil
        }
        (self.name, self.value) = (name, value)
    }

    static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(tokenBytes.contains) }

    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
}

extension [HTTPField] {
    /// The values of the fields with a name, without regard to case.
    package func values(of name: String) -> [String] {
        let name = name.lowercased()
        return filter { $0.name.lowercased() == name }.map(\.value)
    }
}
