// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// A keyring in the plain format: a key file with the group `keyring`, a group for each item, and one for each of
/// its attributes. The bytes must outlive it.
struct PlainKeyring {
    private let lines: KeyFileLines
    private var label: String?
    private var times: (created: UInt64, modified: UInt64) = (0, 0)
    /// In the order of the file.
    private var names: [String] = []
    private var items: [String: Item] = [:]

    /// The values that were read of an item.
    private struct Item {
        /// Whether it has a group of its own, and not attributes alone.
        var isListed = false
        var label = ""
        var secret: SharedSecret?
        var times: (created: UInt64, modified: UInt64) = (0, 0)
        var kind: UInt32 = 0
        /// By the name of their groups.
        var attributes: [String: Attribute] = [:]
    }

    /// The values that were read of an attribute.
    private struct Attribute {
        var name: String?
        var isNumber = false
        var value: String?
    }

    /// A group of the file.
    private enum Group {
        case keyring
        case item(String)
        case attribute(String, of: String)
        /// The programs that had access, in gnome-keyring before version 3, or a group of another program.
        case ignored
    }

    /// Whether the first line that is neither empty nor a comment begins a keyring.
    static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let first = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: maxLeadingLines).first { !isIgnored($0) }
        return first?.elementsEqual("[keyring]".utf8) == true
    }

    /// Decodes the file.
    init(_ bytes: UnsafeRawBufferPointer) throws(GnomeKeyringError) {
        lines = try KeyFileLines(bytes)
        var group = Group.ignored
        var line = lines.indices.lowerBound
        while lines.indices.contains(line) {
            let text = lines[line]
            if let name = KeyFileText.group(text) {
                group = try begin(name, line)
            } else if !Self.isIgnored(text[...]) {
                line = try readValue(line, of: group)
            }
            line += 1
        }
    }

    func keyring() -> GnomeKeyring {
        GnomeKeyring(
            label: label, times: times,
            items: names.compactMap { name in items[name].map { Self.item($0, name) } })
    }

    // MARK: Groups

    private mutating func begin(_ text: Slice<UnsafeRawBufferPointer>, _ line: Int) throws(GnomeKeyringError) -> Group {
        guard let name = String(validating: text, as: UTF8.self) else { throw Self.damaged(line, "is not UTF-8") }
        if name == "keyring" { return .keyring }
        let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
        guard let item = parts.first, let part = parts.dropFirst().first else {
            if !items[name, default: Item()].isListed { names.append(name) }
            items[name, default: Item()].isListed = true
            return .item(name)
        }
        return part.hasPrefix("attribute") ? .attribute(part, of: item) : .ignored
    }

    /// Reads a key and its value.
    ///
    /// - Returns: the last line of the value.
    private mutating func readValue(_ line: Int, of group: Group) throws(GnomeKeyringError) -> Int {
        let text = lines[line]
        guard let separator = text.firstIndex(of: UInt8(ascii: "=")) else {
            throw Self.damaged(line, "is neither a group nor a key with a value")
        }
        let key = String(decoding: text.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        let value = UnsafeRawBufferPointer(rebasing: text.dropFirst(separator + 1))
        switch group {
        case .ignored: break
        case .keyring: try setKeyring(key, value, line)
        case .attribute(let part, let item):
            try Self.set(key, value, line, of: &items[item, default: Item()].attributes[part, default: Attribute()])
        case .item(let item) where key == "secret":
            let last = lines.lastLineOfSecret(from: line)
            let secret = lines.text(from: line, skipping: separator + 1, through: last)
            items[item, default: Item()].secret = SharedSecret(SecretBytes(copying: secret))
            return last
        case .item(let item): try Self.set(key, value, line, of: &items[item, default: Item()])
        }
        return line
    }

    // MARK: Values

    private mutating func setKeyring(
        _ key: String, _ value: UnsafeRawBufferPointer, _ line: Int
    ) throws(GnomeKeyringError) {
        switch key {
        case "display-name": label = try Self.text(value, line)
        case "ctime": times.created = KeyFileText.number(value) ?? 0
        case "mtime": times.modified = KeyFileText.number(value) ?? 0
        default: break
        }
    }

    private static func set(
        _ key: String, _ value: UnsafeRawBufferPointer, _ line: Int, of item: inout Item
    ) throws(GnomeKeyringError) {
        switch key {
        case "display-name": item.label = try text(value, line)
        case "item-type": item.kind = KeyFileText.number(value).flatMap { UInt32(exactly: $0) } ?? 0
        case "ctime": item.times.created = KeyFileText.number(value) ?? 0
        case "mtime": item.times.modified = KeyFileText.number(value) ?? 0
        case "binary-secret":
            guard let secret = SharedSecret.ofHexadecimal(value) else {
                throw damaged(line, "is not a secret in hexadecimal digits")
            }
            item.secret = secret
        default: break
        }
    }

    private static func set(
        _ key: String, _ value: UnsafeRawBufferPointer, _ line: Int, of attribute: inout Attribute
    ) throws(GnomeKeyringError) {
        switch key {
        case "name": attribute.name = try text(value, line)
        case "type": attribute.isNumber = value.elementsEqual("uint32".utf8)
        case "value": attribute.value = try text(value, line)
        default: break
        }
    }

    private static func item(_ item: Item, _ name: String) -> GnomeKeyringItem {
        var attributes: [String: GnomeKeyringItem.Attribute] = [:]
        for attribute in item.attributes.values {
            guard let name = attribute.name, let value = attribute.value else { continue }
            if attribute.isNumber {
                attributes[name] = UInt32(value).map(GnomeKeyringItem.Attribute.number)
            } else {
                attributes[name] = .text(value)
            }
        }
        return GnomeKeyringItem(
            identifier: name, label: item.label, secret: item.secret ?? SharedSecret(SecretBytes([])),
            attributes: attributes, created: item.times.created, modified: item.times.modified, kind: item.kind)
    }

    private static func text(_ value: UnsafeRawBufferPointer, _ line: Int) throws(GnomeKeyringError) -> String {
        guard let text = KeyFileText.unescaped(value) else { throw damaged(line, "is not UTF-8") }
        return text
    }

    private static func isIgnored(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        line.first.map { $0 == UInt8(ascii: "#") } ?? true
    }

    private static func damaged(_ line: Int, _ problem: String) -> GnomeKeyringError {
        .damaged("line \(line + 1) \(problem)")
    }

    /// Empty lines and comments that may be before the first group.
    private static let maxLeadingLines = 64
}
