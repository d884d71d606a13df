// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// `latchkey certificate expiring`.
struct CertificateExpiring: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "expiring", abstract: "List certificates that have expired or expire soon.",
        discussion: """
            Lists the certificates of the keychain, or of files, that are not valid for the given number of days, the \
            first to expire first. Exits with 1 if there is one, so that it can be a step of a monitoring script.

            EXAMPLES:
              latchkey certificate expiring
              latchkey certificate expiring --days 60 /etc/ssl/private/*.pem
              latchkey certificate expiring --json | jq '.[].subject'
            """)

    @Option(help: ArgumentHelp("The number of days that a certificate must be valid.", valueName: "number"))
    var days = 30

    @Option(help: ArgumentHelp("The first of these days, in UTC; the default is now.", valueName: "YYYY-MM-DD"))
    var date: String?

    @Flag(help: "Print JSON, an array.")
    var json = false

    @Argument(help: "Files in PEM or DER; the default is the keychain.", completion: .file())
    var files: [FilePath] = []

    func validate() throws {
        guard 0...36_500 ~= days else { throw ValidationError("--days must be between 0 and 36500") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let time = try ValidationTime.validationTime(date)
        let certificates = try files.isEmpty ? Self.stored(in: session) : CertificateFiles.read(files, in: session)
        let reports = certificates.map { ExpiryReport($0, at: time) }
            .filter { $0.secondsLeft < Double(days) * ExpiryReport.secondsOfDay }
            .sorted { ($0.secondsLeft, $0.sha256) < ($1.secondsLeft, $1.sha256) }
        if json {
            try session.write(JSONText.of(reports))
        } else {
            try session.write(reports.map(\.text).joined())
        }
        guard reports.isEmpty else { throw .reported(1) }
    }

    /// Returns the certificates of the keychain; none without a keychain. It creates no keychain.
    private static func stored(in session: CommandSession) throws(CommandFailure) -> [Certificate] {
        let isMissing = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try KeychainClient.missingHome() != nil
        }
        if isMissing { return [] }
        return try CertificateItems.all(in: try session.keychain()).map(\.certificate)
    }
}
