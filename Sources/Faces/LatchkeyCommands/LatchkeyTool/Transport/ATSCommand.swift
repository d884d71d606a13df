// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey ats`.
struct ATSCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.ats.rawValue, abstract: LatchkeySubcommand.ats.abstract,
        discussion: """
            EXAMPLES:
              latchkey ats lint Info.plist
              latchkey ats lint --json --allow insecure-http Info.plist
              latchkey ats diagnostics https://example.com
            """,
        subcommands: [ATSLintCommand.self, ATSDiagnosticsForward.self])
}
