// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import Presence

/// Starts an agent for a call that needs the person, if latchkeyd has none.
///
/// The program is the installed `latchkey` in a fixed directory that only root can replace: neither PATH nor a file of
/// the user decides which program gets the passcode. It ends with the call, or with this process.
package final class AgentLauncher: Sendable {
    private let directories: [String]
    private let owner: UInt32
    /// The environment of the agent, as `NAME=value`.
    private let environment: [String]
    private let running = SystemMutex(Running())

    private struct Running {
        weak var agent: RunningAgent?
    }

    /// - Parameters:
    ///   - owner: the user who alone may be able to replace the program, beside root.
    ///   - environment: reads a variable of this process.
    package init(
        directories: [String] = ["/usr/local/bin", "/usr/bin"], owner: UInt32 = 0,
        environment: (String) -> String? = { SecureEnvironment.value(of: $0) }
    ) {
        self.directories = directories
        self.owner = owner
        // The agent finds the same latchkeyd, and gets nothing else of this process.
        let socket = environment("LATCHKEY_SYSTEM_SOCKET").map { ["LATCHKEY_SYSTEM_SOCKET=\($0)"] }
        self.environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"] + (socket ?? [])
    }

    /// Performs a call. If it fails because the person cannot be asked, and the person can be asked
    /// at the place, an agent is started and the call is repeated.
    ///
    /// - Parameter isNeeded: whether latchkeyd asks by agents; evaluated only after a failure.
    package func withAgent<Result>(
        at place: PromptPlace, isNeeded: () -> Bool, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            return try body()
        } catch {
            guard error.authentication == .failed(.notInteractive), place.hasDisplay || place.hasTerminal, isNeeded(),
                let agent = agent()
            else { throw error }
            defer { withExtendedLifetime(agent) {} }
            return try body()
        }
    }

    /// Whether an agent can be started.
    package var canStart: Bool {
        InstalledProgram.first(named: Self.program, in: directories, owner: owner) != nil
    }

    fileprivate static let program = "latchkey"

    /// Returns an agent of this process that latchkeyd asks; nil if none can be started. Several
    /// threads share it.
    private func agent() -> RunningAgent? {
        running.withLock { running in
            if let agent = running.agent { return agent }
            let fresh = RunningAgent(in: directories, owner: owner, environment: environment)
            running.agent = fresh
            return fresh
        }
    }
}

/// An agent that this process has started. It ends with this object.
private final class RunningAgent: Sendable {
    private let process: ConversationProcess

    /// Starts the agent, and waits until latchkeyd asks it.
    init?(in directories: [String], owner: UInt32, environment: [String]) {
        guard let program = InstalledProgram.first(named: AgentLauncher.program, in: directories, owner: owner) else {
            return nil
        }
        do throws(SystemError) {
            process = try ConversationProcess(
                executable: program.path, arguments: ["agent", "--child"], environment: environment,
                startsSession: false)
            guard try Self.isReady(process) else { return nil }
        } catch {
            return nil
        }
    }

    /// Waits for the first byte of the output. The agent writes it when it is registered.
    private static func isReady(_ process: borrowing ConversationProcess) throws(SystemError) -> Bool {
        var byte: UInt8 = 0
        var failure: SystemError?
        let count = withUnsafeMutableBytes(of: &byte) { buffer in
            do throws(SystemError) {
                return try process.read(
                    into: buffer, until: BootClock.system.now() &+ startTimeout, cancellation: Cancellation())
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return count > 0
    }

    /// Five seconds, in nanoseconds.
    private static let startTimeout: UInt64 = 5_000_000_000
}
