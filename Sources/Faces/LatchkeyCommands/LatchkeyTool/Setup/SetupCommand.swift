// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey setup`.
struct SetupCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.setup.rawValue, abstract: LatchkeySubcommand.setup.abstract,
        discussion: """
            Looks at the shell, the desktop, systemd, the TPM, other keyrings and helpers, and shows the steps that \
            are done, useful, left to you, or of no use here. Nothing is changed without --apply: it does the useful \
            steps, and shows each step before. --undo undoes the changes of --apply, and nothing else: a file that was \
            changed since then stays. Root is never used, and no file of another program is replaced.

            If gnome-keyring is the Secret Service of the session, the step secret-service imports its items, compares \
            them, keeps gnome-keyring from being started for this user, and takes its place at once; its agent for SSH \
            keys is started again. This is done only if the step is named. Nothing of gnome-keyring is deleted; --undo \
            gives the place back, and the items stay in the keychain.

            The steps are completions, daemon, agent, secret-service, import, login, pinentry, tpm, git and docker.

            EXAMPLES:
              latchkey setup
              latchkey setup --apply completions
              latchkey setup --apply secret-service
              latchkey setup --undo
              latchkey setup --json | jq '.steps[] | select(.state == "useful")'
            """)

    @Flag(help: "Do the useful steps.")
    var apply = false

    @Flag(help: "Undo the changes of --apply.")
    var undo = false

    @Flag(name: [.customShort("n"), .long], help: "With --apply or --undo: only show the changes.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("Only these steps.", valueName: "step"), completion: .list(SetupPlan.names))
    var steps: [String] = []

    func validate() throws {
        if apply, undo { throw ValidationError("--apply and --undo exclude each other") }
        for step in steps where !SetupPlan.names.contains(step) {
            throw ValidationError(
                "expected the name of a step (\(SetupPlan.names.joined(separator: ", "))), found '\(step)'")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let (machine, directory) = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            (try SetupMachine.current(), try KeychainClient.home().stateDirectory)
        }
        try run(on: machine, recordingIn: directory, in: session)
    }

    /// - Parameter directory: the directory of the record.
    func run(
        on machine: SetupMachine, recordingIn directory: String, in session: CommandSession
    ) throws(CommandFailure) {
        if apply || undo, !dryRun {
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try machine.requireOwnDirectories() }
        }
        let work = SetupWork(machine: machine, stateDirectory: directory)
        guard !undo else { return try revert(work, in: session) }
        let chosen = SetupPlan(machine: machine, named: Set(steps)).steps.filter {
            steps.isEmpty || steps.contains($0.name)
        }
        var attempts = SetupAttempts(in: session)
        var report = SetupReport()
        for step in chosen {
            if !json { try session.write(step.text) }
            var result: Result<Void, KeychainError>?
            if apply, !dryRun, step.state == .useful {
                result = attempts.attempt { () throws(KeychainError) in try work.apply(step) }
            }
            report.add(step, result)
            guard !json, let ended = result else { continue }
            try session.write(ended.error == nil ? "                  done\n" : "                  failed\n")
        }
        if json { try session.write(try JSONText.of(report)) }
        try attempts.finish()
        guard !json, !apply, !session.isQuiet, chosen.contains(where: { $0.state == .useful }) else { return }
        session.io.say("hint: latchkey setup --apply does the useful steps, and latchkey setup --undo undoes them\n")
    }

    // MARK: Undoing

    private func revert(_ work: SetupWork, in session: CommandSession) throws(CommandFailure) {
        let record = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try SetupRecord.read(in: work.stateDirectory)
        }
        let chosen = SetupRecord.Change.undoOrder(record.changes).filter { steps.isEmpty || steps.contains($0.step) }
        var attempts = SetupAttempts(in: session)
        var reports: [UndoReport] = []
        for change in chosen {
            if !json { try session.write("undo            \(change.step): \(change.subject)\n") }
            var report = UndoReport(step: change.step, subject: change.subject, result: "planned")
            if !dryRun {
                switch attempts.attempt({ () throws(KeychainError) in try work.undo(change) }) {
                case .success(let undone): report.result = undone.word
                case .failure(let error): (report.result, report.error) = ("failed", error.problem)
                }
            }
            reports.append(report)
            if !json, !dryRun { try session.write("                  \(report.result)\n") }
        }
        if json { try session.write(try JSONText.of(reports)) }
        if !json, chosen.isEmpty { try session.write("there is nothing to undo\n") }
        try attempts.finish()
    }
}

extension SetupRecord.Change {
    /// The file that was changed, or the action that undoes the change.
    fileprivate var subject: String {
        if let masked { return "systemctl --user unmask \(masked.joined(separator: " "))" }
        if let ended { return "give the name of the Secret Service back to \(ended)" }
        return file ?? unit.map { "systemctl --user disable --now \($0)" } ?? ""
    }
}

extension SetupWork.Undone {
    fileprivate var word: String {
        switch self {
        case .undone: "undone"
        case .changed: "changed since then, and left as it is"
        case .missing: "not there any more"
        case .givenBack: "undone; items that were stored meanwhile are only in this keychain"
        case .free: "undone; the other program starts at the next login, without the items that were stored meanwhile"
        }
    }
}

/// A change that was undone, in the shape of its JSON.
private struct UndoReport: Encodable {
    var step: String
    var subject: String
    var result: String
    /// Why it stays in the record; absent unless the result is `failed`.
    var error: String?
}
