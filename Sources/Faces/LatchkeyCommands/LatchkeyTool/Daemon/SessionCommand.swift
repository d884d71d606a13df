// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey session`.
struct SessionCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.session.rawValue, abstract: LatchkeySubcommand.session.abstract,
        discussion: """
            Starts a session bus of its own with the keychain as the Secret Service, runs the program, and ends both \
            with it: for SSH, containers and CI, where no desktop has a bus. The keychain is unlocked first, if a \
            passcode is set and can be asked for, and locked again at the end of the last session; otherwise the \
            passcode is asked for when a program needs it. Where no latchkeyd runs, one is started to keep the \
            keychain unlocked for the programs of the session. LATCHKEY_NO_DAEMON=1 forbids that: then only the Secret \
            Service is unlocked.

            The exit value is the program's; 127 if the program does not exist, 126 if it cannot be run.

            EXAMPLES:
              latchkey session -- secret-tool lookup service example.com
              latchkey session --passcode-file ~/.passcode -- git fetch
            """)

    @OptionGroup var passcode: PasscodeOptions

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"),
        completion: .file())
    var command: [CommandWord] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("no program is given: latchkey session -- COMMAND") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let sessions = try Self.join(session)
        defer { if (try? sessions?.leave()) == true { try? session.keychain().lock(immediately: true) } }
        var secret = try requiredPasscode(by: try session.keychain(), in: session)
        if let passcode = secret, try unlockForAll(passcode, in: session) {
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                do throws(SystemError) { try sessions?.noteUnlock() } catch { throw KeychainError(error) }
            }
            secret = nil
        }
        let opened = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try PrivateSession(passcode: secret)
        }
        let status: Int32
        do throws(SystemError) {
            status = try ChildProcess.run(command.map(\.bytes), variables: ["DBUS_SESSION_BUS_ADDRESS": opened.address])
        } catch {
            session.io.say("latchkey: \(error.description)\n")
            throw .reported(error.code == ENOENT ? 127 : 126)
        }
        withExtendedLifetime(opened) {}
        guard status == 0 else { throw .reported(status) }
    }

    /// Joins the sessions that share a lock; nil if the keychain has no passcode.
    private static func join(_ session: CommandSession) throws(CommandFailure) -> OpenSessions? {
        guard try LockOperations.hasPasscode(try session.keychain()) else { return nil }
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let home = try KeychainClient.home()
            do throws(SystemError) {
                _ = try PrivateDirectory(creating: home.stateDirectory)
                return try OpenSessions(in: home.stateDirectory)
            } catch {
                throw KeychainError(error)
            }
        }
    }

    /// Unlocks the keychain in latchkeyd, and starts one where none runs.
    ///
    /// - Returns: false if there is none: then each process unlocks the keychain for itself.
    private func unlockForAll(_ passcode: SharedSecret, in session: CommandSession) throws(CommandFailure) -> Bool {
        try DaemonStart.ifNeeded(in: session)
        let keychain = try session.keychain()
        guard try LockOperations.isShared(keychain, session) else { return false }
        try LockOperations.unlock(keychain, with: passcode, in: session)
        return true
    }

    /// Returns the passcode if the keychain needs it; nil also if it cannot be asked for here.
    private func requiredPasscode(
        by keychain: KeychainSession, in session: CommandSession
    ) throws(CommandFailure) -> SharedSecret? {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) -> SharedSecret? in
            let status = try keychain.lockStatus()
            guard status.hasPasscode, !status.open.contains(.whenUnlocked) else { return nil }
            if let named = try passcode.source.named() { return named }
            guard session.io.isInputInteractive else { return nil }
            return try passcode.source.read(in: session)
        }
    }
}
