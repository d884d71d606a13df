// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Testing

/// `latchkey ats lint`.
@Suite("App Transport Security commands")
struct ATSCommandTests {
    private let keychain: TestKeychain
    private let directory: TemporaryDirectory

    init() throws {
        keychain = try TestKeychain(.ephemeral)
        directory = try TemporaryDirectory()
    }

    private func lint(_ settings: String, _ options: String = "") throws -> Outcome {
        let path = "\(directory.path)/Info.plist"
        let list = "<plist><dict><key>NSAppTransportSecurity</key><dict>\(settings)</dict></dict></plist>"
        try Data(list.utf8).write(to: URL(filePath: path))
        return keychain.latchkey("ats lint \(options) \(path)")
    }

    private static let arbitrary = "<key>NSAllowsArbitraryLoads</key><true/>"
    private static let insecure = """
        <key>NSExceptionDomains</key><dict><key>example.com</key>
        <dict><key>NSExceptionAllowsInsecureHTTPLoads</key><true/></dict></dict>
        """

    @Test("ATS-18: strict settings pass, and weak ones exit with 1 and are named with a hint")
    func exits() throws {
        let passed = try lint("")
        #expect(passed.exit == 0 && passed.output.contains("nothing found"))
        let arbitrary = try lint(Self.arbitrary)
        #expect(arbitrary.exit == 1 && arbitrary.error.isEmpty)
        #expect(arbitrary.output.hasPrefix("warning  NSAllowsArbitraryLoads: "))
        #expect(arbitrary.output.contains("(arbitrary-loads)\n         hint: "))
        let note = try lint("<key>NSAllowsLocalNetworking</key><true/>")
        #expect(note.exit == 0 && note.output.hasPrefix("note     NSAllowsLocalNetworking: "))
        let wrong = try lint("<key>NSAllowsArbitraryLoads</key><string>YES</string>")
        #expect(wrong.exit == 1 && wrong.output.hasPrefix("error    NSAllowsArbitraryLoads: "))
    }

    @Test("ATS-18: an allowed kind of warning is only noted; an error cannot be allowed")
    func allowed() throws {
        let outcome = try lint(Self.insecure, "--allow insecure-http")
        #expect(
            outcome.exit == 0 && outcome.output.hasPrefix("allowed  NSExceptionDomains/example.com: http is allowed"))
        #expect(try lint(Self.insecure, "--allow single-pin").exit == 1)
        let error = "<key>NSAllowsArbitraryLoads</key><string>YES</string>"
        #expect(try lint(error, "--allow wrong-type").exit == 1)
        let unknown = try lint("", "--allow nothing")
        #expect(unknown.exit != 0 && unknown.error.contains("unknown kind 'nothing'"))
    }

    @Test("ATS-18: the JSON has the findings and whether they pass")
    func json() throws {
        let outcome = try lint(Self.insecure, "--json")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let findings = try #require(object?["findings"] as? [[String: Any]])
        #expect(object?["passed"] as? Bool == false && outcome.exit == 1)
        #expect(["system", "built-in"].contains(object?["publicSuffixes"] as? String))
        #expect(findings.first?["kind"] as? String == "insecure-http")
        #expect(findings.first?["severity"] as? String == "warning")
        #expect(findings.first?["path"] as? String == "NSExceptionDomains/example.com")
    }

    @Test("ATS-18: a file that is missing or not a property list is an error of its own")
    func files() throws {
        let missing = keychain.latchkey("ats lint \(directory.path)/nothing.plist")
        #expect(missing.exit == 220 && missing.error.contains("does not exist"))
        let path = "\(directory.path)/text.plist"
        try Data("text".utf8).write(to: URL(filePath: path))
        let text = keychain.latchkey("ats lint \(path)")
        #expect(text.exit != 0 && text.exit != 1 && text.error.contains("not a property list"))
    }

    @Test("ATS-18: text of the file reaches the terminal escaped and shortened")
    func foreignText() throws {
        let key = "a\u{1B}[31m" + String(repeating: "b", count: 10_000)
        let escaped = key.replacingOccurrences(of: "\u{1B}", with: "&#27;")
        let outcome = try lint("<key>\(escaped)</key><true/>")
        #expect(outcome.exit == 1 && !outcome.output.contains("\u{1B}") && outcome.output.utf8.count < 1000)
    }
}
