// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

@Suite("Protection classes")
struct ProtectionClassTests {
    @Test("A class has the name of the file class with the same lock states, and is found by it and by Apple's code")
    func names() {
        for protection in ProtectionClass.allCases {
            #expect(ProtectionClass(named: protection.name) == protection)
            #expect(ProtectionClass(named: protection.rawValue) == protection)
            #expect(protection.name.hasSuffix("-this-device") == protection.isThisDeviceOnly)
        }
        for file in [FileProtectionClass.complete, .completeUntilFirstUserAuthentication] {
            #expect(ProtectionClass(named: file.name) == file.itemProtection)
        }
        #expect(ProtectionClass(named: FileProtectionClass.none.name)?.isAlwaysOpen == true)
        for text in ["", "AK", "Complete", "unless-open", "this-device", "kSecAttrAccessibleAlways"] {
            #expect(ProtectionClass(named: text) == nil, "\(text)")
        }
    }
}
