// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import LinuxSystem

/// The attributes of a list, converted to those of an item.
struct KeychainAttributes {
    private(set) var values: [ItemAttribute: AttributeValue] = [:]

    /// - Throws: errSecParam for a length without data, for text that is not UTF-8 and for numbers of
    ///   another length; errSecNoSuchAttr for attributes that the class does not have.
    init(_ list: SecKeychainAttributeList?, of itemClass: ItemClass) throws(KeychainError) {
        guard let list else { return }
        for attribute in try Self.elements(of: list) {
            let column = try Self.column(attribute.tag, of: itemClass)
            guard ![.creationDate, .modificationDate].contains(column.attribute) else {
                throw KeychainError(OSStatusCode(rawValue: errSecReadOnlyAttr))
            }
            values[column.attribute] = try Self.value(
                try CallerBytes(attribute.data, attribute.length), of: column)
        }
    }

    static func elements(
        of list: SecKeychainAttributeList
    ) throws(KeychainError) -> UnsafeMutableBufferPointer<SecKeychainAttribute> {
        guard list.attr != nil || list.count == 0 else { throw .parameter("\(list.count) attributes have no address") }
        guard list.count <= maxCount else { throw .parameter("too many attributes: \(list.count)") }
        return UnsafeMutableBufferPointer(start: list.attr, count: Int(list.count))
    }

    /// The attribute of a tag.
    static func column(
        _ tag: SecKeychainAttrType, of itemClass: ItemClass
    ) throws(KeychainError) -> ItemSchema.Column {
        guard SecItemAttr(rawValue: tag) != nil, let attribute = ItemAttribute(rawValue: tag.fourCharacters),
            attribute != .alias, let column = ItemSchema.of(itemClass)[attribute]
        else { throw KeychainError(.noSuchAttribute, "\(itemClass.constant) has no attribute with this tag") }
        return column
    }

    private static func value(
        _ bytes: CallerBytes, of column: ItemSchema.Column
    ) throws(KeychainError) -> AttributeValue {
        switch column.attribute {
        case .protocol: return .string(try bytes.number().fourCharacters)
        case .authenticationType: return .string(try bytes.number().byteSwapped.fourCharacters)
        case .generic: return .data(bytes.bytes)
        default: return column.kind == .number ? .number(Int64(try bytes.number())) : .string(try bytes.text())
        }
    }

    // MARK: From an item

    /// The bytes of an attribute; nil if the item does not have it.
    static func bytes(of attribute: ItemAttribute, in record: ItemRecord) -> [UInt8]? {
        guard let value = record[attribute] else { return nil }
        switch (attribute, value) {
        case (.protocol, .string(let text)): return number(text).map { native($0) }
        case (.authenticationType, .string(let text)): return number(text).map { native($0.byteSwapped) }
        case (_, .number(let number)): return native(UInt32(truncatingIfNeeded: number))
        case (_, .date(let seconds)): return Array(timeText(seconds).utf8) + [0]
        case (_, .string(let text)): return Array(text.utf8)
        case (_, .data(let bytes)): return bytes
        }
    }

    /// The number of four characters.
    private static func number(_ text: String) -> UInt32? {
        text.utf8.count == 4 ? UInt32(bigEndianBytes: text.utf8) : nil
    }

    private static func native(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// `YYYYMMDDhhmmssZ`.
    private static func timeText(_ seconds: Double) -> String {
        Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601).filter { $0.isNumber || $0 == "Z" }
    }

    private static let maxCount: UInt32 = 128
}
