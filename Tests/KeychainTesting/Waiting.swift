// SPDX-License-Identifier: Apache-2.0

public import Dispatch
import Glibc
import Synchronization
import Testing

/// Waits until a condition is true. Tests wait for events and counts. The limit only ends a wait
/// for something that never happens; it is generous because a busy machine may stop a process for
/// many seconds.
///
/// - Parameter limit: the timeout in seconds. All waits of a test together have ``Wait/limitInSum``.
/// - Returns: false if the condition is not true within the limit.
public func eventually<Failure: Error>(
    limit: Double = 300, file: String = #fileID, line: Int = #line, _ condition: () throws(Failure) -> Bool
) throws(Failure) -> Bool {
    if try condition() { return true }
    let wait = Wait(atMost: limit, for: "a condition", at: "\(file):\(line)")
    defer { wait.end() }
    while try !condition() {
        guard !wait.isOver else { return try condition() }
        usleep(2000)
    }
    return true
}

extension DispatchSemaphore {
    /// Waits for a signal as ``eventually(limit:file:line:_:)`` waits for a condition, and
    /// records an issue if there is none within the limit.
    public func awaitSignal(limit: Double = 300, file: String = #fileID, line: Int = #line) {
        if wait(timeout: .now()) == .success { return }
        let wait = Wait(atMost: limit, for: "a signal", at: "\(file):\(line)")
        defer { wait.end() }
        if self.wait(timeout: .now() + wait.seconds) == .timedOut {
            Issue.record("\(file):\(line): no signal within \(Int(limit)) s")
        }
    }
}

/// One wait of a test, with its limit.
///
/// A test that has waited for ten minutes in sum fails with the place of its last wait, and its
/// further waits end at once, so that a test that hangs does not hang the run. Waits of a test that
/// overlap, as those of its cases do, count once.
struct Wait {
    /// The limit of all waits of a test in seconds. Proofs that last longer set it.
    static let limitInSum = getenv("LATCHKEY_TEST_WAIT_SECONDS").flatMap { Double(String(cString: $0)) } ?? 600

    /// All waits of a test.
    private struct Account {
        var total = Duration.zero
        var open = 0
        var start = ContinuousClock.now

        var used: Duration { open > 0 ? total + (ContinuousClock.now - start) : total }
    }

    private static let accounts = Mutex<[Test.ID: Account]>([:])

    /// A thread that a test has made belongs to no test: it has the limit of each wait alone.
    private let test = Test.current?.id
    private let deadline: ContinuousClock.Instant
    private let isLast: Bool
    private let subject: String
    private let place: String

    /// Begins a wait.
    ///
    /// - Parameter subject: the awaited event, for the failure.
    init(atMost limit: Double, for subject: String, at place: String) {
        self.subject = subject
        self.place = place
        let rest = test.map(Self.begin) ?? .seconds(limit)
        deadline = .now + min(.seconds(limit), max(.zero, rest))
        isLast = rest < .seconds(limit)
    }

    /// Whether the time of the wait is over.
    var isOver: Bool { ContinuousClock.now >= deadline }

    /// The seconds until then.
    var seconds: Double { max(0, (deadline - .now) / .seconds(1)) }

    /// Ends the wait, and fails the test if that was the end of its time.
    func end() {
        guard let test else { return }
        Self.accounts.withLock {
            guard var account = $0[test] else { return }
            if account.open == 1 { account.total = account.used }
            account.open -= 1
            $0[test] = account
        }
        guard isLast, isOver else { return }
        Issue.record(
            "the test has waited \(Int(Self.limitInSum)) s in sum, which is the limit; the last wait was for \(subject) at \(place)"
        )
    }

    /// Returns the rest of the test's time.
    private static func begin(_ test: Test.ID) -> Duration {
        accounts.withLock {
            var account = $0[test] ?? Account()
            if account.open == 0 { account.start = .now }
            account.open += 1
            $0[test] = account
            return .seconds(limitInSum) - account.used
        }
    }
}

/// The CPU time of this thread, without other threads and processes.
public enum ThreadTime {
    /// The CPU time in seconds.
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the CPU time in seconds that `work` uses on this thread.
    public static func taken(by work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }
}
