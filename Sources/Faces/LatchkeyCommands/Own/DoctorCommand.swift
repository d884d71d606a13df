// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService

/// `latchkey doctor`.
struct DoctorCommand: OwnParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnCommand.doctor.rawValue,
        abstract: OwnCommand.doctor.abstract,
        discussion: """
            Looks at permissions, tables, every item and the free space, and exits with 1 when something is wrong. It changes nothing; where
            there is no keychain yet, opening it makes one.

            EXAMPLES:
              latchkey doctor
              latchkey doctor --json | jq '.findings[] | select(.healthy | not)'
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let report = DoctorReport(Self.findings(in: session))
        try session.write(json ? try JSONText.of(report) : report.text)
        guard report.healthy else { throw .said(1) }
    }

    /// A keychain that cannot even be opened is a finding like any other.
    private static func findings(in session: CommandSession) -> [KeychainFinding] {
        let progress = Progress(io: session.io)
        defer { progress.clear() }
        do throws(KeychainError) {
            return try KeychainClient.service().check { progress.show($0) }
        } catch {
            return [KeychainFinding("keychain", isHealthy: false, detail: error.problem, hint: error.hint)]
        }
    }
}

/// How far the doctor has come, on a terminal and only where it takes long.
private final class Progress {
    private let io: any CommandIO
    private var isShown = false

    init(io: any CommandIO) {
        self.io = io
    }

    func show(_ rows: Int) {
        guard io.isErrorInteractive, rows >= Self.many, rows.isMultiple(of: Self.step) else { return }
        isShown = true
        io.say("\r\(rows) items looked at")
    }

    func clear() {
        if isShown { io.say("\r\u{1B}[K") }
    }

    private static let many = 10000
    private static let step = 1000
}
