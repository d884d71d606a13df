// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// `latchkey with-passcode`.
struct WithPasscodeCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.withPasscode.rawValue, abstract: LatchkeySubcommand.withPasscode.abstract,
        discussion: """
            The program and its children find the keychain unlocked, through a socket that they inherit. Neither the \
            passcode nor a key is in their arguments or environment, and the keychain stays locked for all other \
            programs. The session ends with the program.

            The exit value is the program's; 127 if the program does not exist, 126 if it cannot be run.

            EXAMPLES:
              latchkey with-passcode -- ./deploy.sh
              latchkey with-passcode --passcode-file ~/.passcode -- make release
              latchkey with-passcode --passcode-fd 3 -- env 3< FILE
            """)

    @OptionGroup var passcode: PasscodeOptions

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"),
        completion: .file())
    var command: [CommandWord] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("no program is given: latchkey with-passcode -- COMMAND") }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let secret = try passcode.required(by: keychain, in: session)
        let hosted = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try HostedSession(of: keychain, passcode: secret)
        }
        defer { hosted.end() }
        let status: Int32
        do throws(SystemError) {
            status = try ChildProcess.run(
                command.map(\.bytes), inheriting: hosted.control.descriptor,
                variables: ["LATCHKEY_SESSION_FD": "\(hosted.control.descriptor)"])
        } catch {
            session.io.say("latchkey: \(error.description)\n")
            throw .reported(error.code == ENOENT ? 127 : 126)
        }
        guard status == 0 else { throw .reported(status) }
    }
}
