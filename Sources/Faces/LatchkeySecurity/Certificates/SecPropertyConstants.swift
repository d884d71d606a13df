// SPDX-License-Identifier: Apache-2.0

public import Foundation

// What properties of certificates and of trust are made of.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an immutable string that is never replaced, and
// Foundation on Linux declares NSString non-Sendable only on account of NSMutableString.

// MARK: Keys

/// One of the types below.
nonisolated(unsafe) public let kSecPropertyKeyType: CFString = "type"
/// What the property is called.
nonisolated(unsafe) public let kSecPropertyKeyLabel: CFString = "label"
/// The same, for people; not translated here.
nonisolated(unsafe) public let kSecPropertyKeyLocalizedLabel: CFString = "localized label"
/// What it is, by its type.
nonisolated(unsafe) public let kSecPropertyKeyValue: CFString = "value"

// MARK: Types

nonisolated(unsafe) public let kSecPropertyTypeWarning: CFString = "warning"
nonisolated(unsafe) public let kSecPropertyTypeSuccess: CFString = "success"
/// An array of properties.
nonisolated(unsafe) public let kSecPropertyTypeSection: CFString = "section"
nonisolated(unsafe) public let kSecPropertyTypeData: CFString = "data"
nonisolated(unsafe) public let kSecPropertyTypeString: CFString = "string"
nonisolated(unsafe) public let kSecPropertyTypeURL: CFString = "url"
nonisolated(unsafe) public let kSecPropertyTypeDate: CFString = "date"
/// An array of values without labels.
nonisolated(unsafe) public let kSecPropertyTypeArray: CFString = "array"
nonisolated(unsafe) public let kSecPropertyTypeNumber: CFString = "number"
/// Of `SecTrustCopyProperties`: whom a certificate is about.
nonisolated(unsafe) public let kSecPropertyTypeTitle: CFString = "title"
/// Of `SecTrustCopyProperties`: what is wrong with it.
nonisolated(unsafe) public let kSecPropertyTypeError: CFString = "error"
