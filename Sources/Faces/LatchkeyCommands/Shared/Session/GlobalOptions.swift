// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// The options before the sub-command: `security [-hilqv] [-p prompt] [command …]`
/// (keychain-behaviour §8.1).
enum GlobalOptions {
    /// - Returns: the status; 0 is success.
    static func run(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        var session = session
        let arguments: ParsedArguments
        do {
            arguments = try ParsedArguments(words, options: options)
        } catch {
            session.isVerbose = words.prefix { $0.hasPrefix("-") }.contains("-v")
            session.report(error, of: session.program == .security ? "options" : "", as: session.program)
            session.io.say(GeneralUsage.text(for: session.program))
            return error.status
        }
        session.isQuiet = arguments.contains("-q")
        session.isVerbose = arguments.contains("-v")
        if let word = arguments["-k"] {
            guard word.isText, let file = try? KeychainFile(word.text) else {
                session.report(
                    .parameter("'\(word.path)' is not the name or the path of a keychain"), of: "options",
                    as: session.program)
                return OSStatusCode.param.rawValue
            }
            KeychainClient.configure { $0.keychain = file.name }
        }
        if arguments.contains("-h") { return HelpCommand.execute(arguments.operands[...], in: session) }
        if !arguments.operands.isEmpty { return Dispatcher.execute(arguments.operands[...], in: session) }
        if arguments.contains("-i") || arguments.contains("-p") {
            return InteractiveMode.run(prompt: arguments["-p"].map { "\($0.text)" } ?? "security> ", in: session)
        }
        do throws(CommandFailure) {
            try session.write(GeneralUsage.text(for: session.program))
        } catch {
            session.report(error, of: "usage", as: session.program)
        }
        return CommandFailure.usage(nil).status
    }

    static let options: [CommandOption] = [
        CommandOption("-h", help: "show this list, or the usage of the named commands"),
        CommandOption("-i", help: "read commands from standard input, one per line"),
        CommandOption("-p", .required("prompt"), help: "like -i, with this prompt"),
        CommandOption(
            "-k", .required("keychain"), help: "work on this keychain, not on the search list (Latchkey's addition)"),
        CommandOption("-l", help: "accepted; has no effect"),
        CommandOption("-q", help: "quiet: no hints"),
        CommandOption("-v", help: "verbose: print the name of a failure's status"),
        CommandOption("-R", help: "accepted; has no effect"),
    ]
}
