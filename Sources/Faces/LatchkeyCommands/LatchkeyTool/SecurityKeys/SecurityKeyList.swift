// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey security-key list`.
struct SecurityKeyList: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the enrolled security keys.",
        discussion: """
            EXAMPLES:
              latchkey security-key list
              latchkey security-key list --json
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let keys = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try keychain.securityKeys() }
        let reports = keys.map(SecurityKeyReport.init)
        if json { return try session.write(JSONText.of(reports)) }
        for report in reports { try session.write(report.line) }
    }
}

/// An enrolled security key, in the shape of its JSON.
struct SecurityKeyReport: Encodable {
    var name: String
    /// 64 hexadecimal digits.
    var identifier: String
    /// In the form of ISO 8601.
    var enrolled: String
    /// Whether it also opens items with userPresence.
    var satisfiesUserPresence: Bool

    init(_ key: SecurityKeyInfo) {
        name = key.name
        identifier = Hexadecimal.text(key.identifier.bytes)
        enrolled = Date(timeIntervalSinceReferenceDate: key.created).formatted(.iso8601)
        satisfiesUserPresence = key.satisfiesUserPresence
    }

    var line: TerminalText {
        "\(name)\t\(enrolled)\t\(satisfiesUserPresence ? "securityKey, userPresence" : "securityKey")\n"
    }
}
