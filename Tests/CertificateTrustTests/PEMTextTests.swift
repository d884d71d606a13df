// SPDX-License-Identifier: Apache-2.0

@testable import CertificateTrust
import Foundation
import KeychainModel
import KeychainTesting
import Testing

/// Files with several certificates, some of them unreadable: none is lost in silence.
@Suite("Certificates in PEM")
struct PEMTextTests {
    private static let begin = "-----BEGIN CERTIFICATE-----\n"
    private static let end = "-----END CERTIFICATE-----\n"

    @Test(
        "The blocks with a label are found in any text, and others are named if their label is unknown",
        arguments: [
            ("\(begin)AQID\n\(end)", ["1 [1, 2, 3]"]), ("text\n-\n\(begin)AQ\n\n ID\n\(end)text", ["3 [1, 2, 3]"]),
            ("-----BEGIN CERTIFICATE-----\r\nAQID\r\n-----END CERTIFICATE-----\r\n", ["1 [1, 2, 3]"]),
            ("-----BEGIN CERTIFICATE----- \t\nAQID\n-----END CERTIFICATE-----", ["1 [1, 2, 3]"]),
            ("\(begin)AQID\n\(end)\(begin)BA==\n\(end)", ["1 [1, 2, 3]", "4 [4]"]), ("\(begin)AQID", ["1 damaged"]),
            ("\(begin)AQID\n-----END OTHER-----\n", ["1 damaged"]), ("\(begin)A!QID\n\(end)", ["1 damaged"]),
            ("\(begin)AQI\n\(end)", ["1 damaged"]), ("\(begin)\(begin)AQID\n\(end)", ["1 damaged", "2 [1, 2, 3]"]),
            ("\(begin)Note: x\n\nAQID\n\(end)", ["1 [1, 2, 3]"]),
            ("-----BEGIN OTHER-----\nAQID\n-----END OTHER-----\n", ["1 unknown"]),
            ("-----BEGIN RSA PRIVATE KEY-----\nAQID\n-----END RSA PRIVATE KEY-----\n", []),
            ("-----BEGIN TSS2 PRIVATE KEY-----\nAQID\n-----END TSS2 PRIVATE KEY-----\n", ["1 unknown"]),
            ("\(end)\n\n", ["1 damaged"]), ("", []),
        ] as [(String, [String])])
    func blocks(_ text: String, _ expected: [String]) {
        let found = Array(text.utf8).withUnsafeBytes { PEMText.parts(in: $0, labels: ["CERTIFICATE"]) }
        let texts = found.map { line, part in
            switch part {
            case .block(_, let content): "\(line) \(content)"
            case .damaged: "\(line) damaged"
            case .unknown: "\(line) unknown"
            }
        }
        #expect(texts == expected)
    }

    /// Ways to change the second of three certificates, each a block of text.
    enum Change: String, CaseIterable {
        case none, mark, carriageReturns, indentation, headers, unknownKindBefore
        case truncated, noBase64, noBegin, noEnd, otherEnd, begin, endLine, unknownLabel, twoMarks, emptyBlock,
            withoutMarks
        case oneLine, spaces, literalLineEnds, variable, variableOfLines, quotedLines, longBeginLine, dataInBeginLine,
            dataInEndLine, unwrappedWithoutMarks, listWithoutMarks

        /// Whether the certificate is still read.
        var isRead: Bool {
            switch self {
            case .none, .mark, .carriageReturns, .indentation, .headers, .unknownKindBefore: true
            default: false
            }
        }

        func applied(to block: String) -> String {
            let lines = block.split(separator: "\n")
            let body = Array(lines.dropFirst().dropLast())
            func text(_ first: String, _ last: String, _ content: [Substring]) -> String {
                ([first] + content.map(String.init) + [last]).filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
            }
            let (first, last) = (String(lines[0]), String(lines[lines.count - 1]))
            return switch self {
            case .none: block
            case .mark: "\u{FEFF}\(block)"
            case .carriageReturns: lines.joined(separator: "\r") + "\r"
            case .indentation: lines.map { "    \($0)\n" }.joined()
            case .headers: "\(first)\nSubject: a\n\n\(body.joined(separator: "\n"))\n\(last)\n"
            case .unknownKindBefore:
                "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n\(block)"
            case .truncated: text(first, last, Array(body.prefix(3)))
            case .noBase64: text(first, last, ["no base64!!"] + body)
            case .noBegin: text("", last, body)
            case .noEnd: text(first, "", body)
            case .otherEnd: text(first, "-----END PRIVATE KEY-----", body)
            case .begin: text("----BEGIN CERTIFICATE-----", last, body)
            case .endLine: text(first, "\(last) and more", body)
            case .unknownLabel: text("-----BEGIN CERTIFCATE-----", "-----END CERTIFCATE-----", body)
            case .twoMarks: text(first + first, last, body)
            case .emptyBlock: text(first, last, [])
            case .withoutMarks: text("", "", body)
            case .oneLine: "\(lines.joined())\n"
            case .spaces: "\(lines.joined(separator: " "))\n"
            case .literalLineEnds: "\(lines.joined(separator: #"\n"#))\n"
            case .variable: "CERTIFICATE=\"\(lines.joined(separator: #"\n"#))\"\n"
            case .variableOfLines: text("CERTIFICATE=\"\(first)", "\(last)\"", body)
            case .quotedLines: lines.map { "    \"\($0)\\n\"\n" }.joined()
            case .longBeginLine: text("\(first)  # \(String(repeating: "a comment ", count: 10))", last, body)
            case .dataInBeginLine: text("\(first)\(body[0])", last, Array(body.dropFirst()))
            case .dataInEndLine: text(first, "", body.dropLast() + ["\(body[body.count - 1])\(last)"])
            case .unwrappedWithoutMarks: "\(body.joined())\n"
            case .listWithoutMarks: "x5c: [\"\(body.joined())\"]\n"
            }
        }
    }

    @Test(
        "A certificate between others is read or named with its line, after any change",
        arguments: Change.allCases)
    func between(_ change: Change) throws {
        let authority = try Self.authority.get()
        let blocks = try [authority.root, authority.intermediate, authority.root].map {
            try String(contentsOfFile: $0.file, encoding: .utf8)
        }
        let before = "\u{FEFF}# Comment\n\(blocks[0])"
        let bundle = CertificateBundle(Array((before + change.applied(to: blocks[1]) + blocks[2]).utf8))
        let line = before.split(separator: "\n").count + 1
        let expected =
            change.isRead
            ? [authority.root, authority.intermediate, authority.root] : [authority.root, authority.root]
        #expect(bundle.certificates.map { Data($0.der) } == expected.map(\.der))
        let named = bundle.rejected.map(\.place) + bundle.notes
        #expect(named.count == (change.isRead ? 0 : 1), "\(named)")
        // A block that has lost its BEGIN is named where its data begins.
        #expect(change.isRead || named[0].contains("line \(line)"), "\(named), expected line \(line)")
    }

    @Test("Certificates of a file that starts with a digit, and of a block of CMS, are read")
    func kinds() throws {
        let authority = try Self.authority.get()
        let block = try String(contentsOfFile: authority.root.file, encoding: .utf8)
        #expect(CertificateBundle(Array("0 s:CN = root\n000\n\(block)".utf8)).certificates.count == 1)
        let der = CertificateBundle.pkcs7([try Certificate(der: Array(authority.root.der))])
        for label in ["PKCS7", "CMS"] {
            #expect(CertificateBundle(Array(PEMText.of(der, label: label).utf8)).certificates.count == 1)
        }
        // One without certificates is named.
        let empty = CertificateBundle.pkcs7([])
        let text = CertificateBundle(Array((block + PEMText.of(empty, label: "PKCS7")).utf8))
        let line = block.split(separator: "\n").count + 1
        #expect(text.certificates.count == 1 && text.notes == ["line \(line): PKCS #7 without certificates"])
        #expect(CertificateBundle(empty).notes == ["PKCS #7 without certificates"])
    }

    private static let authority = Result { try OpenSSLAuthority() }
}
