// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LinuxSystem

/// `latchkey policy list`.
struct PolicyList: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the groups with a policy.",
        discussion: """
            EXAMPLES:
              latchkey policy list
              latchkey policy list --json | jq -r '.[].group'
            """)

    @Flag(help: "Print JSON.")
    var json = false

    private struct Report: Encodable {
        let group: String
        let policy = "require-presence"
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let policies = try session.policies()
        let groups = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try policies.guardedGroups() }
        if json { return try session.write(JSONText.of(groups.map(Report.init))) }
        for group in groups { try session.write("\(group)\trequire-presence\n") }
    }
}
