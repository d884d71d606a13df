// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel
internal import SecretMemory

/// Converts a caller's value to the type of an attribute (keychain-behaviour §1.2). An unsuitable
/// value gives errSecParam.
enum ValueConversion {
    /// Returns the value of an attribute that is neither secret, nor an access control, nor an access
    /// list.
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
        case .accessControl, .accessList:
            break
        }
        throw .parameter("the value of \(column.constant) has the wrong type")
    }

    /// Returns Data as a value in secret memory. The caller remains responsible for its own copy.
    static func secret(_ value: Any, name: String) throws(KeychainError) -> SharedSecret {
        guard let data = value as? Data else { throw .parameter("\(name) must be Data") }
        return SharedSecret(SecretBytes(count: data.count) { buffer in _ = data.copyBytes(to: buffer) })
    }

    /// Returns a Boolean: `true` or kCFBooleanTrue, but not the number 1.
    static func boolean(_ value: Any) -> Bool? {
        if type(of: value) == Bool.self { return value as? Bool }
        // The most frequent number. The next cast would convert it to an object.
        if type(of: value) == Int.self { return nil }
        guard let number = value as? NSNumber, CFGetTypeID(number) == CFBooleanGetTypeID() else { return nil }
        return number.boolValue
    }

    /// Returns an integer that fits into 64 bits; a Boolean is 0 or 1.
    static func integer(_ value: Any) -> Int64? {
        if let flag = boolean(value) { return flag ? 1 : 0 }
        if let number = value as? Int { return Int64(number) }
        guard let number = value as? NSNumber else { return nil }
        if let exact = Int64(exactly: number) { return exact }
        // Int64(exactly:) rejects some doubles that are whole numbers. A double beyond 2^53 has
        // already lost its last digits.
        let double = number.doubleValue
        return double.magnitude < 9_007_199_254_740_992 ? Int64(exactly: double) : nil
    }

    /// Returns a Boolean with the rules of kSecAttrSynchronizable: also the numbers and strings 0
    /// and 1. Nil for anything else.
    static func flag(_ value: Any) -> Bool? {
        switch integer(value) ?? (value as? String).flatMap({ Int64($0) }) {
        case 0: false
        case 1: true
        default: nil
        }
    }
}
