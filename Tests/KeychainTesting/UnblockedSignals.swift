// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Glibc

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
}
