// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// An item as `find-…`, `delete-…` and `dump-keychain` print it (keychain-behaviour §8.3). Every
/// byte matters, because programs parse this text.
struct ItemBlock {
    let record: ItemRecord
    /// The path of the keychain, or `ephemeral`.
    let keychain: String

    var text: TerminalText {
        let path = TerminalText(keychain, maxLength: nil)
        // The attributes are already ASCII, and are not truncated.
        var lines = ""
        for line in BlockLayout.of(record.itemClass) {
            lines += "    \(line.name)<\(line.type.rawValue)>=\(valueText(line))\n"
        }
        return "keychain: \"\(path)\"\nversion: 512\nclass: \(classText)\nattributes:\n" + TerminalText(lines: lines)
    }

    private var classText: String {
        switch record.itemClass {
        case .genericPassword, .internetPassword: return BufferFormat.text(record.itemClass.rawValue.utf8)
        case .certificate, .identity: return BufferFormat.text(Self.bigEndian(0x8000_1000))
        case .key:
            // The record types of public, private and symmetric keys are consecutive, in the order
            // of kSecAttrKeyClass.
            guard case .number(let keyClass)? = record[.keyClass] else {
                return BufferFormat.text(Self.bigEndian(0x0F))
            }
            return BufferFormat.text(Self.bigEndian(0x0F + min(max(keyClass, 0), 2)))
        }
    }

    private func valueText(_ line: BlockLayout.Line) -> String {
        guard let attribute = line.attribute, let value = record[attribute] else { return Self.unset }
        switch line.type {
        case .timedate:
            guard case .date(let seconds) = value, let text = TimedateFormat.text(seconds) else { return Self.unset }
            return BufferFormat.text(Array(text.utf8) + [0])
        case .uint32, .sint32:
            guard case .number(let number) = value else { return BufferFormat.text(value.canonicalBytes) }
            return BufferFormat.text(Self.bigEndian(number))
        case .blob:
            // A column that is never unset contains its default if no value was given; macOS prints
            // it as unset.
            if let initial = ItemSchema.of(record.itemClass)[attribute]?.initial, value.matches(initial) {
                return Self.unset
            }
            return BufferFormat.text(value.canonicalBytes)
        }
    }

    /// Returns the four bytes of a number, the most significant first.
    private static func bigEndian(_ number: Int64) -> [UInt8] {
        UInt32(truncatingIfNeeded: number).bigEndianBytes
    }

    private static let unset = "<NULL>"
}
