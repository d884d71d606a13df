// SPDX-License-Identifier: Apache-2.0

@testable import CertificateTrust
import Testing

@Suite("PEM text")
struct PEMTextTests {
    private static let begin = "-----BEGIN CERTIFICATE-----\n"
    private static let end = "-----END CERTIFICATE-----\n"

    @Test(
        "The blocks with a label are found in any text, whether or not its bytes are contiguous",
        arguments: [
            ("\(begin)AQID\n\(end)", [[1, 2, 3]]), ("text\n-\n\(begin)AQ\n\n ID\n\(end)text", [[1, 2, 3]]),
            ("-----BEGIN CERTIFICATE-----\r\nAQID\r\n-----END CERTIFICATE-----\r\n", [[1, 2, 3]]),
            ("-----BEGIN CERTIFICATE----- \t\nAQID\n-----END CERTIFICATE-----", [[1, 2, 3]]),
            ("\(begin)AQID\n\(end)\(begin)BA==\n\(end)", [[1, 2, 3], [4]]), ("\(begin)AQID", [nil]),
            ("\(begin)AQID\n-----END OTHER-----\n", [nil]), ("\(begin)\(begin)AQID\n\(end)", [nil, [1, 2, 3]]),
            ("-----BEGIN OTHER-----\nAQID\n-----END OTHER-----\n", []),
            ("-----BEGIN -----\n----\n-----END -----\n-----\n", []), ("\(end)\n\n", []), ("", []),
        ] as [(String, [[UInt8]?])])
    func blocks(_ text: String, _ expected: [[UInt8]?]) {
        let bytes = Array(text.utf8)
        let found = PEMText.blocks(in: bytes, labels: ["CERTIFICATE"])
        #expect(found.map(\.content) == expected)
        #expect(found.allSatisfy { $0.label == "CERTIFICATE" })
        #expect(PEMText.blocks(in: bytes.lazy.map { $0 }, labels: ["CERTIFICATE"]).map(\.content) == expected)
    }
}
