// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Glibc
import Testing

/// A test runs on a thread that blocks every signal, and a program that it starts inherits that: it
/// would not end with SIGTERM, and neither would those that it starts.
public enum UnblockedSignals {
    /// Calls `start` while this thread blocks no signal.
    public static func during<Result>(_ start: () throws -> Result) rethrows -> Result {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try start()
    }
}

extension Process {
    /// Starts the program, as ``run()`` does, with no signal blocked.
    public func start() throws { try UnblockedSignals.during { try run() } }

    /// Waits until the program ends, as ``waitUntilExit()`` does, but within a limit. After the limit
    /// its process group is killed, and an issue names its command. Programs that have inherited
    /// its descriptors count as the program.
    ///
    /// - Returns: the exit value, or the number of the signal that has ended it; -1 if something
    ///   outside of its process group holds its descriptors.
    @discardableResult
    public func awaitExit(limit: Double = 300, file: String = #fileID, line: Int = #line) -> Int32 {
        // Only waitUntilExit() releases a process of Foundation. An unreleased process would keep these open. With
        // 1,300 open descriptors, Foundation reads beyond the list of them when it starts the next program.
        defer { (standardInput, standardOutput, standardError) = (nil, nil, nil) }
        if eventually(limit: limit, file: file, line: line, { !isRunning }) { return terminationStatus }
        let command = ([executableURL?.path ?? "?"] + (arguments ?? [])).joined(separator: " ")
        Issue.record(
            "\(file):\(line): still running after \(Int(limit)) s, and killed: \(command.prefix(1000))")
        // Foundation makes each program the leader of a process group.
        if getpgid(processIdentifier) == processIdentifier { kill(-processIdentifier, SIGKILL) }
        kill(processIdentifier, SIGKILL)
        let end = ContinuousClock.now + .seconds(30)
        while isRunning, ContinuousClock.now < end { usleep(1000) }
        return isRunning ? -1 : terminationStatus
    }
}

extension FileHandle {
    /// Waits until the pipe has content, and returns it; empty at its end, and with an issue if
    /// neither comes within the limit.
    public func awaitContent(limit: Double = 300, file: String = #fileID, line: Int = #line) -> Data {
        var entry = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        let isReady = eventually(limit: limit, file: file, line: line) { poll(&entry, 1, 100) > 0 }
        guard isReady else {
            Issue.record("\(file):\(line): no output within \(Int(limit)) s")
            return Data()
        }
        return availableData
    }

    /// Returns the content of the pipe. Its writers must close it within the limit.
    public func awaitEnd(limit: Double = 300, file: String = #fileID, line: Int = #line) -> Data {
        var content = Data()
        while true {
            let more = awaitContent(limit: limit, file: file, line: line)
            if more.isEmpty { return content }
            content += more
        }
    }
}
