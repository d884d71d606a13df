// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
public import Glibc
import Synchronization
import Testing

/// A process that runs in parallel with others. Foundation's `Process` waits for children on one
/// shared thread, so a child that does not end would prevent the end of other children from being
/// detected.
public final class SpawnedProcess: Sendable {
    public let processIdentifier: pid_t
    private let command: String
    private let status = Mutex<Int32?>(nil)

    /// - Parameter output: the file that standard output and standard error are appended to.
    public init(_ words: [String], environment: [String: String], output: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The process must not inherit the descriptors of other tests, also not those that are opened meanwhile: Foundation
        // notices the end of a child by the end of a socket that every holder has closed.
        latchkey_close_from(&actions, 3)
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var identifier = pid_t()
        var code: Int32 = 0
        // A program that was written a moment ago may still be open for writing in another new process, before that
        // executes its own program.
        _ = eventually(limit: 30) {
            code = UnblockedSignals.during {
                posix_spawn(&identifier, words[0], &actions, nil, arguments, variables)
            }
            return code != ETXTBSY
        }
        guard code == 0 else { throw SpawnError(code: code) }
        processIdentifier = identifier
        command = words.joined(separator: " ")
    }

    public struct SpawnError: Error { public let code: Int32 }

    /// Whether the process is still running.
    public var isRunning: Bool { ended() == nil }

    /// Waits until the process ends; returns its exit value, or 128 plus the signal. A process that
    /// does not end within the limit is killed, and an issue names its command.
    @discardableResult
    public func awaitExit(limit: Double = 300, file: String = #fileID, line: Int = #line) -> Int32 {
        if let status = ended() { return status }
        let wait = Wait(atMost: limit, for: "the end of \(command)", at: "\(file):\(line)")
        defer { wait.end() }
        while true {
            if let status = ended() { return status }
            if wait.isOver { break }
            usleep(1000)
        }
        Issue.record("\(file):\(line): still running after \(Int(limit)) s, and killed: \(command)")
        return killed()
    }

    /// Sends the signal if the process is running, and waits until it ends.
    @discardableResult
    public func stop(signal: Int32, file: String = #fileID, line: Int = #line) -> Int32 {
        guard isRunning else { return awaitExit() }
        guard signal != SIGKILL else { return killed() }
        kill(processIdentifier, signal)
        return awaitExit(file: file, line: line)
    }

    /// The kernel ends a killed process, so this wait needs no limit.
    private func killed() -> Int32 {
        kill(processIdentifier, SIGKILL)
        while true {
            if let status = ended() { return status }
            usleep(1000)
        }
    }

    private func ended() -> Int32? {
        status.withLock { status in
            if let status { return status }
            var word: Int32 = 0
            guard waitpid(processIdentifier, &word, WNOHANG) == processIdentifier else { return nil }
            status = word & 0x7F == 0 ? (word >> 8) & 0xFF : 128 + (word & 0x7F)
            return status
        }
    }

    deinit { if isRunning { _ = killed() } }
}
