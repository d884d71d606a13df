// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The keys and types of the properties of certificates and of trust.
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString.

// MARK: Keys

/// The type: one of the constants below.
nonisolated(unsafe) public let kSecPropertyKeyType: CFString = "type"
/// The name of the property.
nonisolated(unsafe) public let kSecPropertyKeyLabel: CFString = "label"
/// The name for display; not translated here.
nonisolated(unsafe) public let kSecPropertyKeyLocalizedLabel: CFString = "localized label"
/// The value, of the class that the type determines.
nonisolated(unsafe) public let kSecPropertyKeyValue: CFString = "value"

// MARK: Types

/// A warning.
nonisolated(unsafe) public let kSecPropertyTypeWarning: CFString = "warning"
/// A success.
nonisolated(unsafe) public let kSecPropertyTypeSuccess: CFString = "success"
/// An array of properties.
nonisolated(unsafe) public let kSecPropertyTypeSection: CFString = "section"
/// Data.
nonisolated(unsafe) public let kSecPropertyTypeData: CFString = "data"
/// A string.
nonisolated(unsafe) public let kSecPropertyTypeString: CFString = "string"
/// A URL.
nonisolated(unsafe) public let kSecPropertyTypeURL: CFString = "url"
/// A date.
nonisolated(unsafe) public let kSecPropertyTypeDate: CFString = "date"
/// An array of values without labels.
nonisolated(unsafe) public let kSecPropertyTypeArray: CFString = "array"
/// A number.
nonisolated(unsafe) public let kSecPropertyTypeNumber: CFString = "number"
/// In `SecTrustCopyProperties`: the summary of the certificate's subject.
nonisolated(unsafe) public let kSecPropertyTypeTitle: CFString = "title"
/// In `SecTrustCopyProperties`: the failures of the certificate.
nonisolated(unsafe) public let kSecPropertyTypeError: CFString = "error"
