// SPDX-License-Identifier: Apache-2.0

/// A value of one of Apple's property lists.
public enum PropertyListValue: Equatable, Sendable {
    case string(String)
    case integer(Int64)
    /// Finite.
    case real(Double)
    case boolean(Bool)
    /// Seconds since 1970-01-01T00:00:00Z.
    case date(Double)
    case data([UInt8])
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// The text; nil if the value is of another type. The same applies to the next properties.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var date: Double? { if case .date(let seconds) = self { seconds } else { nil } }
    public var data: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
    public var array: [PropertyListValue]? { if case .array(let values) = self { values } else { nil } }
    public var dictionary: [String: PropertyListValue]? {
        if case .dictionary(let members) = self { members } else { nil }
    }

    /// The texts of an array that contains only strings; otherwise nil.
    public var strings: [String]? {
        guard let values = array else { return nil }
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }

    /// The value of a key; nil if this is not a dictionary or the key is missing.
    public subscript(_ key: String) -> PropertyListValue? { dictionary?[key] }
}
