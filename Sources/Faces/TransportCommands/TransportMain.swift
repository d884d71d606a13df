// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
public import LatchkeyCommands
internal import LinuxSystem

/// The command `latchkey-tls`: the commands of `latchkey` that connect to servers.
public enum TransportMain {
    /// Runs one command line.
    ///
    /// - Parameters:
    ///   - words: the command line; the first word is the program's name.
    ///   - io: the streams to read from and to write to.
    /// - Returns: the exit value of the process.
    public static func run(_ words: [CommandWord], io: some CommandIO) -> Int32 {
        let (session, words) = CommandSession.companion(words, io: io)
        return Int32(OSStatusCode(rawValue: status(words, in: session)).exitCode)
    }

    private static func status(_ words: [CommandWord], in session: CommandSession) -> Int32 {
        if words.first?.text == "verify-cert" {
            return VerifyCert.execute(Array(words.dropFirst()), in: session) { (url) throws(CommandFailure) in
                try ServedCertificates.fetch(url)
            }
        }
        do {
            var command = try ArgumentText.parse(TransportCommand.self, words[...])
            guard let own = command as? any ParsableSubcommand else {
                try command.run()
                return 0
            }
            return own.exitStatus(in: session)
        } catch {
            return answer(error, to: words, in: session)
        }
    }

    /// Handles the errors of swift-argument-parser: help, a version, or a parsing error.
    private static func answer(_ error: any Error, to words: [CommandWord], in session: CommandSession) -> Int32 {
        guard TransportCommand.exitCode(for: error) != .success else {
            let text = TransportCommand.fullMessage(for: error, columns: session.io.columns)
            do throws(CommandFailure) {
                try session.write(TerminalText(lines: text.hasSuffix("\n") ? text : text + "\n"))
                return 0
            } catch {
                return error.status
            }
        }
        let names = commandNames(words.map(\.text)).joined(separator: " ")
        session.reportUsage(
            "\(ArgumentText.shown(TransportCommand.message(for: error)))",
            hint: "latchkey \(names.isEmpty ? "" : "\(names) ")--help")
        return CommandFailure.usage(nil).status
    }

    /// The words at the beginning that are names of commands.
    private static func commandNames(_ words: [String]) -> [String] {
        var (names, current): ([String], any ParsableCommand.Type) = ([], TransportCommand.self)
        for word in words {
            guard let next = current.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            names.append(word)
            current = next
        }
        return names
    }
}

/// The root of the commands.
struct TransportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey", abstract: "The commands of latchkey that connect to servers.",
        version: LatchkeyVersion.current,
        subcommands: [TLSGroup.self, PinGroup.self, ATSGroup.self])

    struct TLSGroup: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tls", abstract: "Check how a server is reached with TLS.", subcommands: [TLSCheck.self])
    }

    struct PinGroup: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pin", abstract: "Store, list and check the pins of hosts.",
            subcommands: [PinAdd.self, PinList.self, PinRemove.self, PinReport.self])
    }

    struct ATSGroup: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ats", abstract: "Check App Transport Security settings.",
            subcommands: [ATSDiagnostics.self])
    }
}
