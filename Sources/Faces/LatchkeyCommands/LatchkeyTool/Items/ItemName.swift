// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The name of a password on the command line: `SERVICE/ACCOUNT`, or `SERVER/ACCOUNT` for an
/// internet password. An item without a service or server has its label in this place.
///
/// The account is after the last slash, and has none itself. The slashes of a scheme at the beginning
/// separate nothing: `https://example.com` is a service. `%` and two hexadecimal digits are one byte
/// (RFC 3986, section 2.1): `%2F` is a slash and `%25` a percent sign. So every service and account has a
/// name, also one that is not UTF-8.
struct ItemName: Equatable {
    /// The service, the server of an internet password, or the label; empty for an item without any.
    let service: [UInt8]
    /// nil for any account, in a name without a slash.
    let account: [UInt8]?

    init(service: [UInt8], account: [UInt8]?) {
        self.service = service
        self.account = account
    }

    /// - Throws: errSecParam for an empty text, and for a `%` without two hexadecimal digits.
    init(parsing text: String) throws(CommandFailure) {
        let parts = try Self.parts(of: text)
        service = try Self.bytes(of: parts.service, in: text)
        guard let part = parts.account else {
            account = nil
            return
        }
        account = try Self.bytes(of: part, in: text)
    }

    /// Parses the name of a new item. It has no empty part: that would mostly be a variable that was not set.
    ///
    /// - Throws: errSecParam, also for an empty part.
    init(ofNewItem text: String) throws(CommandFailure) {
        try self.init(parsing: text)
        guard !service.isEmpty else { throw Self.emptyService(text) }
        guard account != [] else {
            throw .parameter(
                "the account in the name '\(text)' is empty; expected SERVICE/ACCOUNT",
                hint: "--account '' names the items without an account")
        }
    }

    // MARK: Text

    /// The text for people; it is parsed as this name. An item without an account has its service alone, and that text
    /// also selects other accounts; ``exactText`` does not. It contains no control characters.
    var text: String {
        guard account == [], !service.isEmpty else { return exactText }
        let short = ItemName(service: service, account: nil)
        let text = Self.text(service, nil, escapesSlashes: false)
        return short.isParsed(from: text) ? text : exactText
    }

    /// The text that is parsed as this name, with a slash after the service of an item without an account.
    var exactText: String {
        let text = Self.text(service, account, escapesSlashes: false)
        return isParsed(from: text) ? text : Self.text(service, account, escapesSlashes: true)
    }

    /// Returns whether a text of this name, without an escaped slash in the service, is parsed as this name.
    private func isParsed(from text: String) -> Bool {
        // Without a slash in the service, the only one is that before the account.
        !service.contains(UInt8(ascii: "/")) || (try? ItemName(parsing: text)) == self
    }

    /// - Parameter escapesSlashes: whether slashes in the service are escaped.
    private static func text(_ service: [UInt8], _ account: [UInt8]?, escapesSlashes: Bool) -> String {
        let name =
            text(of: service, escapesSlashes: escapesSlashes)
            + (account.map { "/" + text(of: $0, escapesSlashes: true) } ?? "")
        // A name that begins with a hyphen would be taken for an option.
        return name.utf8.first == UInt8(ascii: "-") ? "%2D" + String(name.unicodeScalars.dropFirst()) : name
    }

    private static func text(of part: [UInt8], escapesSlashes: Bool) -> String {
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            scalar != "%" && (scalar != "/" || !escapesSlashes) && PrintableText.isPrintable(scalar)
        }
        if part.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "/") }) {
            return String(decoding: part, as: UTF8.self)
        }
        guard let valid = String(validating: part, as: UTF8.self) else {
            return part.map { isPlain(Unicode.Scalar($0)) && $0 < 0x80 ? String(Unicode.Scalar($0)) : escape($0) }
                .joined()
        }
        return valid.unicodeScalars.map { isPlain($0) ? String($0) : String($0).utf8.map(escape).joined() }.joined()
    }

    private static func escape(_ byte: UInt8) -> String {
        "%" + Hexadecimal.text(byte, isUppercase: true)
    }

    // MARK: Parts

    /// Splits a name or a pattern at its last slash.
    ///
    /// - Throws: errSecParam for an empty text.
    static func parts(of text: String) throws(CommandFailure) -> (service: Substring, account: Substring?) {
        // Bytes, because a slash and a combining character after it are one `Character`.
        let bytes = text.utf8
        guard !bytes.isEmpty else { throw emptyService(text) }
        let separators = bytes.dropFirst(schemeLength(of: bytes))
        guard let slash = separators.lastIndex(of: UInt8(ascii: "/")) else { return (text[...], nil) }
        return (Substring(bytes[..<slash]), Substring(bytes[slash...].dropFirst()))
    }

    /// The length of a scheme with its slashes at the beginning, such as `https://` (RFC 3986, section 3.1);
    /// 0 without one.
    private static func schemeLength(of text: String.UTF8View) -> Int {
        let scheme = text.prefix { byte in
            byte.isASCIILetter || (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E].contains(byte)
        }
        let mark = "://".utf8
        guard scheme.first?.isASCIILetter == true, text.dropFirst(scheme.count).starts(with: mark) else { return 0 }
        return scheme.count + mark.count
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
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let decoded = Hexadecimal.byte(high, low, letters: .any)
            else {
                throw .parameter(
                    "a % in the name '\(text)' is not followed by two hexadecimal digits",
                    hint: "write a percent sign as %25, or use --service and --account")
            }
            bytes.append(decoded)
        }
        return bytes
    }

    private static func emptyService(_ text: String) -> CommandFailure {
        .parameter(
            "the service in the name '\(text)' is empty; expected SERVICE/ACCOUNT",
            hint: "--service '' names the items without a service")
    }
}

extension ItemRecord {
    /// The name of a password on the command line.
    var passwordName: ItemName {
        ItemName(service: isNamedByLabel ? labelBytes : serviceBytes, account: self[.account]?.canonicalBytes ?? [])
    }

    /// Whether the label is in the place of a service or server that the item does not have.
    var isNamedByLabel: Bool { serviceBytes.isEmpty && !labelBytes.isEmpty }

    /// The label, where the name does not have it; nil for none.
    var furtherLabel: [UInt8]? {
        let label = labelBytes
        return label.isEmpty || isNamedByLabel || label == serviceBytes ? nil : label
    }

    /// The bytes of the label; empty for none.
    var labelBytes: [UInt8] {
        switch self[.label] {
        case .string(let text)?: Array(text.utf8)
        case .data(let bytes)?: bytes
        case .number, .date, nil: []
        }
    }

    private var serviceBytes: [UInt8] {
        self[ItemTarget.serviceAttribute(of: itemClass)]?.canonicalBytes ?? []
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
