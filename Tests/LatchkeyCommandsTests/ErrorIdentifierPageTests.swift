// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// The page of errors, with a section for each identifier.
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

            The identifiers of errors. `latchkey` prints them on a terminal after the message, and with `-v`
            everywhere; `latchkey explain LK1201` shows a section of this page. `security` does not print them: its
            output is macOS's. `make docs` makes this page (`ErrorIdentifierPageTests`).

            An identifier names a kind of failure, and the message a case of it. Its number does not change, and no
            other kind gets it. Exit values without an identifier are at the end.

            """
        let values = ExitValueExplanation.all.map { one in
            "\n## Exit value \(one.value)\n\n**\(one.title).** \(one.cause)\n\n\(Self.list(one.steps))"
        }
        let text = head + ErrorExplanation.all.map(Self.section).joined() + values.joined()
        for one in ErrorExplanation.all {
            #expect(text.contains("\n## \(one.identifier)\n\n**\(one.title).** \(one.cause)\n"), "\(one.identifier)")
        }
        try GeneratedPage.write(text, as: "Errors.md")
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
