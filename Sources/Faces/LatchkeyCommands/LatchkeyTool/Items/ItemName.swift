// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The name of a password on the command line: `SERVICE/ACCOUNT`, or `SERVER/ACCOUNT` for an
/// internet password.
///
/// In a part, `%` and two hexadecimal digits are one byte (RFC 3986, section 2.1): `%2F` is a slash
/// and `%25` a percent sign. So every service and account that is not empty has a name, also one
/// that is not UTF-8.
struct ItemName: Equatable {
    /// The service, or the server of an internet password.
    let service: [UInt8]
    /// nil if the name has no slash.
    let account: [UInt8]?

    init(service: [UInt8], account: [UInt8]?) {
        self.service = service
        self.account = account
    }

    /// - Throws: errSecParam for an empty part, for more than one slash, and for a `%` without two
    ///   hexadecimal digits.
    init(parsing text: String) throws(CommandFailure) {
        let parts = try Self.parts(of: text)
        service = try Self.bytes(of: parts.service, in: text)
        guard let part = parts.account else {
            account = nil
            return
        }
        account = try Self.bytes(of: part, in: text)
    }

    /// The text that is parsed as this name. It contains no control characters.
    var text: String {
        let name = Self.text(of: service) + (account.map { "/" + Self.text(of: $0) } ?? "")
        // A name that begins with a hyphen would be taken for an option.
        return name.utf8.first == UInt8(ascii: "-") ? "%2D" + String(name.unicodeScalars.dropFirst()) : name
    }

    // MARK: Parts

    /// Splits a name or a pattern at its slash.
    static func parts(of text: String) throws(CommandFailure) -> (service: Substring, account: Substring?) {
        // Bytes, because a slash and a combining character after it are one `Character`.
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        guard parts.count <= 2 else {
            throw .parameter(
                "the name '\(text)' has \(parts.count - 1) slashes; expected one, between service and account",
                hint: "write a slash inside a part as %2F, or use --service and --account")
        }
        guard let service = parts.first, !service.isEmpty else {
            throw .parameter(
                "the service in the name '\(text)' is empty; expected SERVICE/ACCOUNT",
                hint: "--service '' names the items without a service")
        }
        guard parts.last?.isEmpty == false else {
            throw .parameter(
                "the account in the name '\(text)' is empty; expected SERVICE/ACCOUNT",
                hint: "--account '' names the items without an account")
        }
        return (service, parts.count == 2 ? parts.last : nil)
    }

    /// Decodes the percent encoding of a part.
    static func bytes(of part: Substring, in text: String) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = part.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(), let decoded = Hexadecimal.byte(high, low)
            else {
                throw .parameter(
                    "a % in the name '\(text)' is not followed by two hexadecimal digits",
                    hint: "write a percent sign as %25, or use --service and --account")
            }
            bytes.append(decoded)
        }
        return bytes
    }

    private static func text(of part: [UInt8]) -> String {
        guard let valid = String(validating: part, as: UTF8.self) else {
            return part.map { isPlain(Unicode.Scalar($0)) && $0 < 0x80 ? String(Unicode.Scalar($0)) : escape($0) }
                .joined()
        }
        return valid.unicodeScalars.map { isPlain($0) ? String($0) : String($0).utf8.map(escape).joined() }.joined()
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "/" && scalar != "%" && PrintableText.isPrintable(scalar)
    }

    private static func escape(_ byte: UInt8) -> String {
        let digits = [Hexadecimal.uppercase[Int(byte >> 4)], Hexadecimal.uppercase[Int(byte & 15)]]
        return "%" + String(decoding: digits, as: UTF8.self)
    }
}
