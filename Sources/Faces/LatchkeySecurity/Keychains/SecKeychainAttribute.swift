// SPDX-License-Identifier: Apache-2.0

/// The tag of an attribute: the raw value of a ``SecItemAttr``.
public typealias SecKeychainAttrType = OSType

/// One attribute of an item, in memory of the caller or of a call.
public struct SecKeychainAttribute {
    /// The tag that identifies the attribute.
    public var tag: SecKeychainAttrType
    /// The number of its bytes.
    public var length: UInt32
    /// Its bytes: UTF-8 without a zero byte, or an integer of the machine.
    public var data: UnsafeMutableRawPointer?

    /// Creates an attribute without a value.
    public init() { self.init(tag: 0, length: 0, data: nil) }

    /// Creates an attribute, as C does with the fields in this order.
    public init(tag: SecKeychainAttrType, length: UInt32, data: UnsafeMutableRawPointer?) {
        self.tag = tag
        self.length = length
        self.data = data
    }
}

/// Attributes of an item.
public struct SecKeychainAttributeList {
    /// The number of attributes.
    public var count: UInt32
    /// The first attribute.
    public var attr: UnsafeMutablePointer<SecKeychainAttribute>?

    /// Creates an empty list.
    public init() { self.init(count: 0, attr: nil) }

    /// Creates a list, as C does with the fields in this order.
    public init(count: UInt32, attr: UnsafeMutablePointer<SecKeychainAttribute>?) {
        self.count = count
        self.attr = attr
    }
}

/// The attributes to copy from an item.
public struct SecKeychainAttributeInfo {
    /// The number of tags.
    public var count: UInt32
    /// The first tag.
    public var tag: UnsafeMutablePointer<UInt32>
    /// Not used: each attribute has the format that ``SecItemAttr`` names.
    public var format: UnsafeMutablePointer<UInt32>?

    /// Creates a list of tags, as C does with the fields in this order.
    public init(count: UInt32, tag: UnsafeMutablePointer<UInt32>, format: UnsafeMutablePointer<UInt32>?) {
        self.count = count
        self.tag = tag
        self.format = format
    }
}
