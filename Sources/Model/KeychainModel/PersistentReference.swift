// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A reference to an item that stays valid after the process ends and after every update: 20 bytes,
/// the four letters of the class and the item's UUID.
public struct PersistentReference: Hashable, Sendable {
    /// The class of the item.
    public let itemClass: ItemClass
    /// The identifier of the item.
    public let identifier: ItemIdentifier

    /// The reference of an item.
    public init(_ itemClass: ItemClass, _ identifier: ItemIdentifier) {
        self.itemClass = itemClass
        self.identifier = identifier
    }

    /// Returns nil unless `bytes` are a known class and 16 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 20, let code = String(validating: bytes.prefix(4), as: UTF8.self),
            let itemClass = ItemClass(rawValue: code)
        else { return nil }
        guard let identifier = ItemIdentifier(bytes: bytes.dropFirst(4)) else { return nil }
        self.init(itemClass, identifier)
    }

    /// The 20 bytes.
    public var bytes: [UInt8] {
        Array(itemClass.rawValue.utf8) + identifier.bytes
    }
}

/// The UUID of an item: 16 random bytes that never change.
public struct ItemIdentifier: Hashable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]

    /// Returns nil unless there are 16 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Returns a new identifier. All 16 bytes are random; no bits mark a version.
    public static func random() -> ItemIdentifier {
        var generator = SystemRandomNumberGenerator()
        let (high, low): (UInt64, UInt64) = (generator.next(), generator.next())
        return ItemIdentifier(random: high.bigEndianBytes + low.bigEndianBytes)
    }

    private init(random bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension ItemIdentifier: CustomStringConvertible {
    /// The usual form, `XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX`.
    public var description: String {
        let digits = Array("0123456789ABCDEF")
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append("-") }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }
}
