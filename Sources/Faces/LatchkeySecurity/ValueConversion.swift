// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import SecretMemory

/// Turns a caller's value into the kind that an attribute takes (keychain-behaviour §1.2). What does not fit is errSecParam.
enum ValueConversion {
    /// The value of an attribute that is neither secret nor an access control.
    static func value(_ value: Any, for column: ItemSchema.Column) throws(KeychainError) -> AttributeValue {
        switch column.kind {
        case .string:
            if let text = value as? String { return .string(text) }
            if let data = value as? Data, let text = String(data: data, encoding: .utf8) { return .string(text) }
            if let identifier = value as? UUID { return .string(identifier.uuidString) }
        case .blob:
            if let text = value as? String { return .string(text) }
            if let data = value as? Data { return .data(Array(data)) }
            if let number = integer(value) { return .number(number) }
        case .data:
            if let data = value as? Data { return .data(Array(data)) }
            if let text = value as? String { return .data(Array(text.utf8)) }
            if let number = integer(value).flatMap({ Int32(exactly: $0) }) {
                return .data(AttributeValue.number(Int64(number)).canonicalBytes)
            }
        case .number:
            if let text = value as? String {
                return Int32(text).flatMap { "\($0)" == text ? .number(Int64($0)) : nil } ?? .string(text)
            }
            if let number = integer(value) { return .number(number) }
        case .date:
            if let date = value as? Date, date.timeIntervalSinceReferenceDate.isFinite {
                return .date(date.timeIntervalSinceReferenceDate)
            }
        case .sha1:
            if let data = value as? Data, data.count == 20 { return .data(Array(data)) }
        case .uuid:
            if value is NSNull { return .data([]) }
            if let data = value as? Data, data.isEmpty || data.count == 16 { return .data(Array(data)) }
            if let identifier = value as? UUID { return .data(withUnsafeBytes(of: identifier.uuid) { Array($0) }) }
        case .accessControl:
            break
        }
        throw .parameter("the value of \(column.constant) is of a type it does not take")
    }

    /// Data that goes into secret memory. The caller's own Data stays the caller's to look after.
    static func secret(_ value: Any, name: String) throws(KeychainError) -> SharedSecret {
        guard let data = value as? Data else { throw .parameter("the value of \(name) is not Data") }
        return SharedSecret(SecretBytes(count: data.count) { buffer in _ = data.copyBytes(to: buffer) })
    }

    /// A real Boolean: `true`, or kCFBooleanTrue, but not the number 1.
    static func boolean(_ value: Any) -> Bool? {
        if type(of: value) == Bool.self { return value as? Bool }
        guard let number = value as? NSNumber, CFGetTypeID(number) == CFBooleanGetTypeID() else { return nil }
        return number.boolValue
    }

    /// A whole number that fits into 64 bits; a Boolean is 0 or 1.
    static func integer(_ value: Any) -> Int64? {
        if let flag = boolean(value) { return flag ? 1 : 0 }
        if let number = value as? Int { return Int64(number) }
        guard let number = value as? NSNumber else { return nil }
        if let exact = Int64(exactly: number) { return exact }
        // Int64(exactly:) refuses some doubles that are whole; a double beyond 2^53 has lost its last digits already.
        let double = number.doubleValue
        return double.magnitude < 9_007_199_254_740_992 ? Int64(exactly: double) : nil
    }

    /// A Boolean as kSecAttrSynchronizable takes it: also the numbers and strings 0 and 1. nil for anything else.
    static func flag(_ value: Any) -> Bool? {
        switch integer(value) ?? (value as? String).flatMap({ Int64($0) }) {
        case 0: false
        case 1: true
        default: nil
        }
    }
}
