// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

@Suite("Attributes")
struct ItemAttributeTests {
    @Test("The code of an attribute has the letters of its name, and yields the attribute")
    func codes() {
        for attribute in ItemAttribute.allCases {
            let letters = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: attribute.code >> $0) }
            #expect(String(decoding: letters, as: UTF8.self) == attribute.rawValue)
            #expect(ItemAttribute(code: attribute.code) == attribute)
        }
    }
}
