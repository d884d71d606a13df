// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Text is written to a stream only as `TerminalText`, so that a terminal obeys no escape sequences
/// in foreign text.
@Suite("Text on terminals")
struct TerminalTextTests {
    private static let modules = ["LatchkeyCommands", "LatchkeyTool", "LatchkeyDaemon"]

    @Test("One file of the commands, and one of the services, write to the streams of the process")
    func streams() throws {
        let writers = try Self.files { $0.contains("STDERR_FILENO") || $0.contains("STDOUT_FILENO") }
        #expect(writers == ["ProcessIO.swift", "DaemonMain.swift"])
        for pattern in [
            #"\bfputs\("#, #"\bputs\("#, #"\bprintf\("#, #"\bfwrite\("#, "FileHandle", #"\bstd(out|err)\b"#,
        ] {
            #expect(try Self.files { $0.range(of: pattern, options: .regularExpression) != nil } == [], "\(pattern)")
        }
        // The services write their log with it, and nothing else does.
        let files = try (Self.modules + ["LatchkeyService"]).flatMap { try Sources.files(of: $0) }
        let logs = files.filter { $0.withoutComments.contains("StreamLogHandler") }
        #expect(logs.map(\.name) == ["PrintableLogHandler.swift"])
    }

    @Test("Functions that write text take a TerminalText, and a prompt is a literal")
    func parameters() throws {
        let declaration = #"func (write|say|warn|readSecret|read|readNew|answer)\([^)]*(text|hint|prompt): String"#
        #expect(try Self.files { $0.range(of: declaration, options: .regularExpression) != nil } == [])
    }

    @Test("Only our own text may contain line ends")
    func lines() throws {
        let makers = try Self.files { $0.contains("TerminalText(lines:") }
        #expect(
            Set(makers) == [
                // Help and usage, from literals.
                "CommandDefinition.swift", "DaemonMain.swift", "GeneralUsage.swift", "KeyringImport.swift",
                "LatchkeySubcommand.swift",
                // Attributes in hexadecimal and quotes; both are ASCII.
                "ItemBlock.swift",
                // Base64 in PEM.
                "FindCertificate.swift", "KeyAttest.swift", "VerifyCert.swift",
                // The help of companion programs, from literals.
                "CompanionCommands.swift", "ForwardedCommands.swift",
            ])
    }

    @Test("Reports and the debug log get text of the sources only: the files that vouch for a word are listed")
    func diagnostics() throws {
        let vouching = try Sources.all().filter { $0.withoutComments.contains("DiagnosticText(unchecked:") }
        #expect(
            Set(vouching.map(\.name)) == [
                // The raw values of closed types, and the names of the table of statuses.
                "DiagnosticText+Model.swift", "DiagnosticReport.swift",
                // The names of commands.
                "CommandName.swift",
            ])
        for spelling in ["Text(stringLiteral:", "Text.init(stringLiteral:", "DiagnosticText.init(unchecked"] {
            #expect(try Sources.all().allSatisfy { !$0.withoutComments.contains(spelling) }, "\(spelling)")
        }
    }

    @Test("Raw bytes are written only if a secret or a file was requested")
    func bytes() throws {
        #expect(
            try Self.files { $0.contains("io.write(") } == [
                "BackupCommand.swift", "BatchOutput.swift", "CatCommand.swift", "CommandSession.swift",
            ])
        #expect(
            try Self.files { $0.contains("writeSecret(") } == [
                "CommandSession.swift", "CopyCommand.swift", "DumpKeychain.swift", "KeyFileIO.swift",
                "PasswordPrinting.swift", "RecoveryKeyCommand.swift", "RootCommand.swift", "SecretDisplay.swift",
            ])
    }

    /// Returns the names of the files with matching code in the three modules.
    private static func files(where fits: (String) -> Bool) throws -> Set<String> {
        Set(try modules.flatMap { try Sources.files(of: $0) }.filter { fits($0.withoutComments) }.map(\.name))
    }
}
