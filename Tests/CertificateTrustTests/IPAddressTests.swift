// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CertificateTrust

/// The text form of IP addresses.
@Suite("IPAddress")
struct IPAddressTests {
    @Test(
        "An address is parsed, and written in its canonical form",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("2001:DB8::1", "2001:db8::1"), ("[::1]", "::1"),
            ("::", "::"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("::ffff:192.0.2.1", "::ffff:c000:201"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"), ("1::", "1::"),
        ])
    func text(_ written: String, _ expected: String) {
        #expect(IPAddress(text: written)?.description == expected)
    }

    @Test(
        "A text that is not an address is refused",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ", "0x1.2.3.4", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9",
            ":::",
            "1::2::3", "12345::", "::g", "1:2:3:4:5:6:7::8", ":1:2:3:4:5:6:7", "1.2.3.4:5", "[::1", "example.com",
            "١.2.3.4",
        ])
    func refused(_ text: String) {
        #expect(IPAddress(text: text) == nil)
    }
}
