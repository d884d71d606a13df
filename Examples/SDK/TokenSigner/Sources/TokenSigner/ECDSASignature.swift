// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The two numbers of a signature with P-256, without leading zeros.
struct ECDSASignature {
    private let r: [UInt8]
    private let s: [UInt8]

    private static let numberLength = 32

    init(der: Data) throws {
        var bytes = [UInt8](der)[...]
        guard bytes.popFirst() == 0x30, let length = bytes.popFirst(), length == bytes.count else {
            throw TokenError.form
        }
        r = try Self.number(&bytes)
        s = try Self.number(&bytes)
        guard bytes.isEmpty else { throw TokenError.form }
    }

    init(fixedLength: Data) throws {
        guard fixedLength.count == 2 * Self.numberLength else { throw TokenError.form }
        r = fixedLength.prefix(Self.numberLength).drop { $0 == 0 } + []
        s = fixedLength.suffix(Self.numberLength).drop { $0 == 0 } + []
    }

    var fixedLength: Data {
        Data([r, s].flatMap { [UInt8](repeating: 0, count: Self.numberLength - $0.count) + $0 })
    }

    var der: Data {
        let numbers = [r, s].flatMap { number -> [UInt8] in
            // A first bit that is set would make the number negative.
            let isPositive = number.first.map { $0 < 0x80 } ?? false
            return [0x02, UInt8(number.count + (isPositive ? 0 : 1))] + (isPositive ? [] : [0]) + number
        }
        return Data([0x30, UInt8(numbers.count)] + numbers)
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>) throws -> [UInt8] {
        guard bytes.popFirst() == 0x02, let length = bytes.popFirst(), length <= bytes.count else {
            throw TokenError.form
        }
        let number = bytes.prefix(Int(length)).drop { $0 == 0 }
        bytes = bytes.dropFirst(Int(length))
        guard number.count <= numberLength else { throw TokenError.form }
        return Array(number)
    }
}
