// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// A sub-command that swift-argument-parser has parsed.
package protocol ParsableSubcommand: ParsableCommand {
    func run(in session: CommandSession) throws(CommandFailure)
}

extension ParsableSubcommand {
    /// Runs the command, and reports its error.
    package func exitStatus(in session: CommandSession) -> Int32 {
        do {
            try run(in: session)
            return 0
        } catch {
            session.report(error, of: Self._commandName, as: .latchkey)
            return error.status
        }
    }
}
