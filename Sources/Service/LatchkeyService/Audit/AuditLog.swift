// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import Keybag
internal import KeychainStore
internal import Dispatch
internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// The audit log of latchkeyd: one line of JSON for each decision, chained by a key that is
/// ratcheted with every line. Repetitions of a refusal are counted, and so are decisions of a
/// program that has used up its part of a file (``AuditDeduplicator``).
///
/// Documentation/Formats/audit-log.md specifies the detected changes of the file, the database, or both. The line of a
/// change or a refusal is in the file before the caller gets its response. The line of a lookup follows within
/// milliseconds, so that lookups do not wait for the file. The database stores the end of the log within a second, and
/// when the log is closed.
public final class AuditLog: Sendable {
    private let store: KeychainStore
    private let files: AuditFiles
    private let clock: @Sendable () -> Double
    private let state: SystemMutex<State>
    /// Whether the last line could not be written.
    private let hasFailed = Atomic(false)
    /// Allows only one thread at a time to write the head to the database.
    private let flushSemaphore = BinarySemaphore()
    /// Lookups that have no line in the file yet.
    private let queue = AuditQueue()
    /// Signalled for the thread that waits to write repetitions, when the log is closed.
    private let closing = DispatchSemaphore(value: 0)
    /// How often the last thread that wrote the queue has waited; -1 while none has ended.
    private let writerWaits = Atomic(-1)

    private struct State: ~Copyable, @unchecked Sendable {  // because it is only reached under the mutex
        var writer: AuditWriter
        /// Whether a thread will write the head to the database.
        var isFlushScheduled = false
        /// Whether a thread will write the repetitions.
        var isWatched = false
        /// Whether the log was closed, so that another log may write the same file.
        var isClosed = false
    }

    init(store: KeychainStore, directory: PrivateDirectory, clock: @escaping @Sendable () -> Double, limits: Limits)
        throws(KeychainError)
    {
        self.store = store
        self.clock = clock
        files = AuditFiles(directory: directory, maxCount: limits.maxFiles)
        do throws(StoreError) {
            state = SystemMutex(State(writer: try AuditWriter.open(store, files, limits)))
        } catch {
            throw KeychainError(error)
        }
    }

    deinit { if state.withLock({ $0.isWatched && !$0.isClosed }) { closing.signal() } }

    // MARK: Writing

    /// Throws if no line can be written. A decision that cannot be logged must not be carried out.
    ///
    /// - Throws: the cause, after a line could not be written and as long as that remains so.
    public func requireWritable() throws(KeychainError) {
        guard hasFailed.load(ordering: .acquiring) else { return }
        try append(AuditEntry(caller: CallerIdentity(executable: "latchkeyd"), operation: "resume"))
    }

    /// Writes a line, or counts a repetition.
    public func append(_ entry: AuditEntry) throws(KeychainError) {
        // Events that were queued earlier are written first.
        try locked { (state) throws(KeychainError) in try writeQueue(followedBy: entry, &state.writer) }
    }

    /// Queues the line of a lookup, to be written soon, after the lines before it.
    public func appendSoon(_ entry: AuditEntry) throws(KeychainError) {
        switch queue.append(entry, at: clock) {
        case .nothing: return
        case .write: try drain()
        case .startWriter:
            guard !BackgroundThread.run({ [weak self] in self?.writeQueue() }) else { return }
            queue.writerEnds()
            try drain()
        }
    }

    /// Writes the queue until it stays empty for a while or the log is closed.
    private func writeQueue() {
        while queue.waitForEvents() {
            // The next caller of ``requireWritable()`` gets the error.
            if (try? drain()) == nil { usleep(Self.retryPause) }
        }
        var usage = rusage()
        // 1 is RUSAGE_THREAD; Glibc's module lacks the name.
        getrusage(1, &usage)
        writerWaits.store(usage.ru_nvcsw, ordering: .releasing)
    }

    /// How often the last thread that wrote the queue has given up the processor; nil while none
    /// has ended. For tests.
    var waitsOfLastWriter: Int? {
        let count = writerWaits.load(ordering: .acquiring)
        return count < 0 ? nil : count
    }

    /// Writes the queue.
    private func drain() throws(KeychainError) {
        guard !queue.isEmpty else { return }
        try locked { (state) throws(KeychainError) in try writeQueue(followedBy: nil, &state.writer) }
    }

    /// Writes the queue, followed by `entry`. Queued events that cannot be written stay in the
    /// queue.
    private func writeQueue(followedBy entry: AuditEntry?, _ writer: inout AuditWriter) throws(KeychainError) {
        let queued = queue.takeAll()
        let last = entry.map { [AuditEvent(entry: $0, time: clock())] } ?? []
        var rest = (queued + last)[...]
        do throws(KeychainError) {
            try writer.write(&rest)
        } catch {
            queue.putBack(rest.dropLast(last.count))
            throw error
        }
    }

    /// A tenth of a second, in microseconds, after lines could not be written.
    private static let retryPause: UInt32 = 100_000

    /// Runs `body` under the lock. It reads the clock there: a time from before another thread's line would look like a
    /// clock that was set back.
    private func locked(_ body: (inout State) throws(KeychainError) -> Void) throws(KeychainError) {
        let (failure, flushes, watches) = state.withLock { state -> (KeychainError?, Bool, Bool) in
            do throws(KeychainError) {
                guard !state.isClosed else { throw KeychainError(.notAvailable, "the audit log was closed") }
                try body(&state)
                hasFailed.store(false, ordering: .releasing)
            } catch {
                hasFailed.store(true, ordering: .releasing)
                return (error, false, false)
            }
            let flushes = state.writer.isDirty && !state.isFlushScheduled
            let watches = state.writer.isCounting && !state.isWatched
            if flushes { state.isFlushScheduled = true }
            if watches { state.isWatched = true }
            return (nil, flushes, watches)
        }
        if let failure { throw failure }
        if flushes { scheduleFlush() }
        if watches { watchRepeats() }
    }

    // MARK: Repetitions

    /// Starts a thread that writes repetitions when their interval has passed, even if nothing else
    /// happens.
    private func watchRepeats() {
        let isRunning = BackgroundThread.run { [weak self, closing] in
            while let pause = self?.writeRepeats() {
                guard closing.wait(timeout: .now() + pause) == .timedOut else { return }
            }
        }
        // Without a thread they are written with the next line, or when the log is closed.
        if !isRunning { state.withLock { $0.isWatched = false } }
    }

    /// Writes the repetitions that are due; returns the seconds until others can be, or nil if none
    /// will follow.
    private func writeRepeats() -> Double? {
        // The next caller of ``requireWritable()`` gets the error; this thread tries again.
        _ = try? writeDueRepeats()
        return state.withLock { state in
            state.isWatched = state.writer.isCounting && !state.isClosed
            return state.isWatched ? max(1, state.writer.pauseOfRepeats(from: clock())) : nil
        }
    }

    /// Writes the repetitions with an expired interval.
    func writeDueRepeats() throws(KeychainError) {
        try locked { (state) throws(KeychainError) in try state.writer.writeRepeats(at: clock()) }
    }

    // MARK: The database

    /// Stores the end of the log in the database.
    public func flush() throws(KeychainError) {
        try drain()
        flushSemaphore.acquire()
        defer { flushSemaphore.release() }
        // The database may be busy for long. Lines can be written meanwhile.
        guard let snapshot = state.withLock({ $0.writer.isDirty ? Snapshot($0.writer) : nil }) else { return }
        do throws(SystemError) { try snapshot.file.synchronize() } catch { throw KeychainError(error) }
        do throws(StoreError) { try store.audit.setHead(snapshot.head) } catch { throw KeychainError(error) }
        state.withLock { if $0.writer.head.sequence == snapshot.head.sequence { $0.writer.isDirty = false } }
    }

    /// The end of the log at one point in time.
    private final class Snapshot: @unchecked Sendable {  // because nothing in it changes
        let head: AuditPosition
        let file: AuditFile
        let number: Int64

        init(_ writer: borrowing AuditWriter) {
            head = writer.head.copy()
            file = writer.file
            number = writer.number
        }
    }

    private func scheduleFlush() {
        let isRunning = BackgroundThread.run { [weak self] in
            usleep(Self.delay)
            self?.state.withLock { $0.isFlushScheduled = false }
            // If this fails, the next line tries again.
            _ = try? self?.flush()
        }
        if !isRunning { state.withLock { $0.isFlushScheduled = false } }
    }

    /// One second, in microseconds.
    private static let delay: UInt32 = 1_000_000

    // MARK: Reading

    /// Returns the lines after a number and since a time, as the log is now.
    ///
    /// - Parameter since: seconds since 1970.
    public func reading(after sequence: UInt64, since: Double?) throws(KeychainError) -> AuditReading {
        try drain()
        // Files are renamed, replaced and removed under the same lock.
        let reading = state.withLock { state in
            Result { () throws(SystemError) in
                try AuditReading(files, after: sequence, since: since, last: state.writer.head.sequence)
            }
        }
        do throws(SystemError) { return try reading.get() } catch { throw KeychainError(error) }
    }

    /// Returns the programs that gave wrong passcodes since the last accepted one, the latest last;
    /// at most eight.
    public func passcodeGuesses() throws(KeychainError) -> [PasscodeGuess] {
        try drain()
        let found = state.withLock { state in Result { () throws(KeychainError) in try state.writer.passcodeGuesses() }
        }
        return try found.get()
    }

    /// Checks whether every line is authentic, and none is missing.
    public func verify() throws(KeychainError) -> AuditVerification {
        try drain()
        // A line that is partly written looks like a damaged one, and so does a file that ends during
        // the check. A verdict stands if it is good, or if nothing was written meanwhile.
        for _ in 0..<Self.maxUnlockedChecks {
            let snapshot = state.withLock { Snapshot($0.writer) }
            let verdict = try check(snapshot)
            let (isSameFile, isUnchanged) = state.withLock { state in
                let isSameFile = state.writer.number == snapshot.number
                return (isSameFile, isSameFile && state.writer.head.sequence == snapshot.head.sequence)
            }
            if verdict.isIntact ? isSameFile : isUnchanged { return verdict }
        }
        // Writers wait for this check.
        return try state.withLock { state in
            Result { () throws(KeychainError) in try check(Snapshot(state.writer)) }
        }.get()
    }

    private static let maxUnlockedChecks = 5

    private func check(_ snapshot: Snapshot) throws(KeychainError) -> AuditVerification {
        try AuditCheck(store: store, path: files.path(ofAge:)).verdict(of: snapshot.number, head: snapshot.head)
    }

    /// Writes the pending lines, and closes the log.
    public func close() {
        // Errors are ignored: the next verification detects lines that are missing.
        try? locked { (state) throws(KeychainError) in try state.writer.writeRepeats(at: clock(), isEnd: true) }
        try? flush()
        let isWatched = state.withLock { state in
            state.isClosed = true
            return state.isWatched
        }
        if isWatched { closing.signal() }
        queue.close()
    }
}
