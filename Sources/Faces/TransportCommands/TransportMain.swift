// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
public import LatchkeyCommands

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
        return CompanionCommands.status(of: TransportCommand.self, words, in: session)
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
