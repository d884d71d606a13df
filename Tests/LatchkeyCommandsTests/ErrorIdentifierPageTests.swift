// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
@testable import LatchkeyCommands
import Testing

/// Documentation/Errors.md has a section for each identifier.
@Suite("Page of errors")
struct ErrorIdentifierPageTests {
    @Test("Every identifier is explained once, in the order of the numbers")
    func explanations() {
        #expect(ErrorExplanation.all.map(\.identifier) == ErrorIdentifier.allCases)
        let numbers = ErrorIdentifier.allCases.map(\.rawValue)
        #expect(numbers == numbers.sorted())
        for one in ErrorExplanation.all {
            #expect(!one.title.isEmpty && !one.cause.isEmpty && !one.steps.isEmpty, "\(one.identifier)")
            #expect(!one.title.hasSuffix(".") && one.cause.hasSuffix("."), "\(one.identifier)")
        }
    }

    @Test("The page has the sections of all identifiers")
    func page() throws {
        let head = """
            # Errors

            What the identifiers of errors mean. `latchkey` prints them on a terminal after the message, and with
            `-v` everywhere; `latchkey explain LK1201` shows a section of this page. `security` does not print
            them: its output is macOS's. `ErrorIdentifierPageTests` generates this page
            (`LATCHKEY_RECORD=1 ./Scripts/check/test --filter ErrorIdentifierPageTests`).

            An identifier says which kind of failure it is, and the message which case of it. Its number does not
            change, and is not given to another kind. Exit values that no identifier has are at the end.

            """
        let values = ExitValueExplanation.all.map { one in
            "\n## Exit value \(one.value)\n\n**\(one.title).** \(one.cause)\n\n\(Self.list(one.steps))"
        }
        let text = head + ErrorExplanation.all.map(Self.section).joined() + values.joined()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Documentation/Errors.md")
        if ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] == "1" {
            try Data(text.utf8).write(to: file)
            Issue.record("recorded the page: read it, then run the tests without LATCHKEY_RECORD")
            return
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    private static func section(_ one: ErrorExplanation) -> String {
        let status = one.identifier.statuses.first.map { status in
            "\nStatus `\(status.name ?? "")` (\(status.rawValue)), exit value \(status.exitCode).\n"
        }
        let value = one.exitValue.map { "\nExit value \($0).\n" }
        return "\n## \(one.identifier)\n\n**\(one.title).** \(one.cause)\n\(status ?? value ?? "")\n\(list(one.steps))"
    }

    private static func list(_ steps: [String]) -> String { steps.map { "- \($0)\n" }.joined() }
}
