// SPDX-License-Identifier: Apache-2.0

import LinuxSystem

@testable import TransportPolicy

// Property lists as literals.

extension PropertyListValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .boolean(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self = .dictionary(Dictionary(elements) { first, _ in first })
    }

    /// An identity of `NSPinnedDomains`.
    static func identity(_ number: UInt8) -> PropertyListValue {
        ["SPKI-SHA256-BASE64": .string(Pin.other(number).base64)]
    }
}

extension ATSReading {
    /// The findings as `severity kind path`, sorted.
    var summary: [String] { findings.map { "\($0.severity.rawValue) \($0.kind.rawValue) \($0.path)" }.sorted() }
}
