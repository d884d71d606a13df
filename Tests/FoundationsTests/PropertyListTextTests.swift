// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
import Testing

/// Property lists of others.
@Suite("Property lists")
struct PropertyListTextTests {
    private struct List: Codable, Equatable {
        var number: Int
        var names: [String]
    }

    private let list = List(number: 7, names: ["a", "\u{E4}"])

    private func bytes(_ format: PropertyListSerialization.PropertyListFormat) throws -> [UInt8] {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        return Array(try encoder.encode(list))
    }

    @Test("XML in UTF-8 is read")
    func read() throws {
        #expect(try PropertyListText.decode(List.self, from: bytes(.xml)) == list)
    }

    @Test("Anything else is refused without a trap, bytes in a number that are no UTF-8 among it")
    func refused() throws {
        let xml = try bytes(.xml)
        let digit = try #require(xml.lastIndex(of: UInt8(ascii: "7")))
        let odd = Array(xml[..<digit]) + [0xFF, 0xFF] + Array(xml[digit...])
        for bytes in [odd, try bytes(.binary), [], Array("text".utf8), Array(xml.dropLast(20)), [0xFF, 0xFE, 0x3C, 0x00]] {
            #expect(throws: (any Error).self) { try PropertyListText.decode(List.self, from: bytes) }
        }
    }
}
