// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// `latchkey agent`.
struct AgentCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.agent.rawValue, abstract: LatchkeySubcommand.agent.abstract,
        discussion: """
            The system's latchkeyd has neither a terminal nor a display. If an item requires the passcode, an agent of \
            its user asks for it with pinentry, on the terminal or the display of the program that wants the item, and \
            latchkeyd verifies the typed passcode. A user's own latchkeyd, and programs without latchkeyd, need no \
            agent.

            An agent runs until SIGTERM. Without one, a program starts an agent for the time of its call, if latchkey \
            is installed in /usr/bin or /usr/local/bin.

            EXAMPLES:
              systemctl --user enable --now latchkey-agent
              latchkey agent
            """)

    @Flag(
        help: ArgumentHelp(
            "Write one line when latchkeyd asks this agent, and end when standard input ends: for the program that starts the agent."
        ))
    var child = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let agent = PromptAgent()
        guard TerminationSignals.handle({ agent.stop() }), !child || Self.stopAtEndOfInput(agent) else {
            throw .status(KeychainError(.notAvailable, "the agent cannot start another thread", hint: "try again"))
        }
        var problem: CommandFailure?
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try agent.run {
                guard child else { return }
                do throws(CommandFailure) {
                    try session.write("ready\n")
                } catch {
                    problem = error
                    agent.stop()
                }
            }
        }
        if let problem { throw problem }
    }

    private static func stopAtEndOfInput(_ agent: PromptAgent) -> Bool {
        BackgroundThread.run {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                guard count > 0 || count < 0 && errno == EINTR else { return agent.stop() }
            }
        }
    }
}
