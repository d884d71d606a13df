// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import Keybag
internal import KeychainStore
internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// What latchkeyd writes down: a line of JSON for each decision, chained by a key that evolves with every line.
///
/// Documentation/Formats/audit-log.md says what a change of the file, of the database, or of both is found by. The line of a change, or of a
/// refusal, is in the file before its caller is answered; that of a lookup follows within milliseconds, so that lookups need not wait for it.
/// Where the log ends is noted in the database within a second, and when the log is closed.
public final class AuditLog: Sendable {
    private let store: KeychainStore
    private let directory: PrivateDirectory
    private let clock: @Sendable () -> Double
    private let limits: Limits
    private let state: Mutex<State>
    /// Whether the last line could not be written.
    private let hasFailed = Atomic(false)
    /// One thread at a time tells the database.
    private let telling = Gate()
    /// Lookups whose lines are still to be written.
    private let waiting = Mutex<Queue>(Queue())

    private struct Queue {
        var entries: [(entry: AuditEntry, time: Double)] = []
        var isWriting = false
    }

    /// How large the log may become.
    public struct Limits: Sendable {
        /// The length at which a new file is begun, in bytes.
        public var fileLength: Int
        /// How many files are kept beside the one that is written.
        public var keptFiles: Int

        public init(fileLength: Int = 8 << 20, keptFiles: Int = 4) {
            self.fileLength = fileLength
            self.keptFiles = keptFiles
        }
    }

    private struct State: ~Copyable, @unchecked Sendable {  // because it is only reached under the mutex
        var head: AuditPosition
        var file: AuditFile
        /// The number of the file that is written.
        var number: Int64
        var length: Int
        /// Whether the database does not know the head yet.
        var isDirty = false
        /// Whether a thread is going to tell it.
        var isScheduled = false
        /// Whether another log may be writing the same file.
        var isClosed = false
    }

    init(store: KeychainStore, directory: PrivateDirectory, clock: @escaping @Sendable () -> Double, limits: Limits) throws(KeychainError) {
        self.store = store
        self.directory = directory
        self.clock = clock
        self.limits = limits
        state = Mutex(try Self.open(store, directory, limits))
    }

    // MARK: Writing

    /// Whether a line can be written: what cannot be written down must not be done.
    ///
    /// - Throws: what prevents it, once a line could not be written and still cannot.
    public func requireWritable() throws(KeychainError) {
        guard hasFailed.load(ordering: .acquiring) else { return }
        try append(AuditEntry(caller: CallerIdentity(executable: "latchkeyd"), operation: "resume"))
    }

    /// Has the line of a lookup written soon, behind those that came before it.
    public func appendSoon(_ entry: AuditEntry) throws(KeychainError) {
        let (isFirst, isFull) = waiting.withLock { queue in
            queue.entries.append((entry, clock()))
            defer { queue.isWriting = true }
            return (!queue.isWriting, queue.entries.count >= Self.greatestQueue)
        }
        // One thread at a time writes what waits, and ends when nothing does for a while.
        if isFirst, !BackgroundThread.run({ [weak self] in self?.writeWaiting() }) {
            waiting.withLock { $0.isWriting = false }
            return try drain()
        }
        if isFull { try drain() }
    }

    private func writeWaiting() {
        var idle = 0
        while idle < Self.idleRounds {
            usleep(Self.pause)
            let isEmpty = waiting.withLock { queue in
                let isEmpty = queue.entries.isEmpty
                if isEmpty, idle + 1 == Self.idleRounds { queue.isWriting = false }
                return isEmpty
            }
            idle = isEmpty ? idle + 1 : 0
            // A failure is told to whoever asks next (``requireWritable()``).
            if !isEmpty { _ = try? drain() }
        }
    }

    /// Writes what waits.
    private func drain() throws(KeychainError) {
        guard !waiting.withLock({ $0.entries.isEmpty }) else { return }
        try locked { (state) throws(KeychainError) in try writeWaiting(followedBy: [], &state) }
    }

    /// Writes what waits, and what comes after it. What of the waiting cannot be written waits on.
    private func writeWaiting(followedBy last: [(entry: AuditEntry, time: Double)], _ state: inout State) throws(KeychainError) {
        var rest = waiting.withLock { queue in
            defer { queue.entries = [] }
            return queue.entries + last
        }[...]
        do throws(KeychainError) {
            try write(&rest, &state)
        } catch {
            let kept = rest.dropLast(last.count)
            waiting.withLock { $0.entries = kept + $0.entries }
            throw error
        }
    }

    /// Two milliseconds, in microseconds.
    private static let pause: UInt32 = 2_000
    private static let idleRounds = 500
    private static let greatestQueue = 1_000

    /// Writes a line.
    public func append(_ entry: AuditEntry) throws(KeychainError) {
        let now = clock()
        // What was queued before comes before it.
        try locked { (state) throws(KeychainError) in try writeWaiting(followedBy: [(entry, now)], &state) }
    }

    private func locked(_ body: (inout State) throws(KeychainError) -> Void) throws(KeychainError) {
        let (failure, isFirst) = state.withLock { state -> (KeychainError?, Bool) in
            do throws(KeychainError) {
                guard !state.isClosed else { throw KeychainError(.notAvailable, "the audit log was closed") }
                try body(&state)
                hasFailed.store(false, ordering: .releasing)
            } catch {
                hasFailed.store(true, ordering: .releasing)
                return (error, false)
            }
            guard state.isDirty else { return (nil, false) }
            defer { state.isScheduled = true }
            return (nil, !state.isScheduled)
        }
        if let failure { throw failure }
        if isFirst { scheduleFlush() }
    }

    /// Writes lines at once; where the file becomes full, the rest goes to the next. What is written leaves `rest`.
    private func write(_ rest: inout ArraySlice<(entry: AuditEntry, time: Double)>, _ state: inout State) throws(KeychainError) {
        while !rest.isEmpty {
            if state.length >= limits.fileLength { try beginFile(&state) }
            var position = state.head.copy()
            var lines: [UInt8] = []
            var count = 0
            for next in rest where state.length + lines.count < limits.fileLength {
                let body = AuditLine.body(next.entry, sequence: position.sequence + 1, time: next.time)
                let code = position.key.code(of: body, after: position.code)
                lines += AuditLine(body: body, code: code).bytes
                lines.append(UInt8(ascii: "\n"))
                position.sequence += 1
                position.code = code
                position.key.evolve()
                count += 1
            }
            do throws(SystemError) {
                try state.file.append(lines)
            } catch {
                // A part of them may be there.
                try? state.file.cut(to: state.length)
                throw KeychainError(error)
            }
            rest = rest.dropFirst(count)
            state.head = position
            state.length += lines.count
            state.isDirty = true
        }
    }

    /// Tells the database where the log ends.
    public func flush() throws(KeychainError) {
        try drain()
        telling.enter()
        defer { telling.release() }
        // The database may be busy for long; lines are written meanwhile.
        guard let snapshot = state.withLock({ $0.isDirty ? Snapshot($0.head.copy(), $0.file, $0.number) : nil }) else { return }
        do throws(SystemError) { try snapshot.file.synchronize() } catch { throw KeychainError(error) }
        do throws(StoreError) { try store.setAuditHead(snapshot.head) } catch { throw KeychainError(error) }
        state.withLock { if $0.head.sequence == snapshot.head.sequence { $0.isDirty = false } }
    }

    /// The end of the log at one moment.
    private final class Snapshot: @unchecked Sendable {  // because nothing in it changes
        let head: AuditPosition
        let file: AuditFile
        let number: Int64

        init(_ head: consuming AuditPosition, _ file: AuditFile, _ number: Int64) {
            self.head = head
            self.file = file
            self.number = number
        }
    }

    private func scheduleFlush() {
        let isRunning = BackgroundThread.run { [weak self] in
            usleep(Self.delay)
            self?.state.withLock { $0.isScheduled = false }
            // What fails now is tried again with the next line.
            _ = try? self?.flush()
        }
        if !isRunning { state.withLock { $0.isScheduled = false } }
    }

    /// One second, in microseconds.
    private static let delay: UInt32 = 1_000_000

    /// Begins a new file. The database knows of it first: what is left half done is completed at the next opening.
    private func beginFile(_ state: inout State) throws(KeychainError) {
        do throws(SystemError) { try state.file.synchronize() } catch { throw KeychainError(error) }
        do throws(StoreError) {
            try store.beginAuditFile(state.number + 1, at: state.head, keeping: Int64(limits.keptFiles))
        } catch {
            throw KeychainError(error)
        }
        state.number += 1
        do throws(SystemError) {
            try Self.rotate(directory, keeping: limits.keptFiles)
            state.file = try AuditFile(appendingTo: directory.appending(Self.name))
        } catch {
            throw KeychainError(error)
        }
        state.length = 0
    }

    // MARK: Reading

    /// The lines behind a number and since a time.
    ///
    /// - Parameter since: seconds since 1970.
    public func lines(after sequence: UInt64, since: Double?, _ body: (String) -> Bool) throws(KeychainError) -> UInt64 {
        try drain()
        let last = state.withLock { $0.head.sequence }
        do throws(SystemError) {
            var isWanted = true
            for age in stride(from: limits.keptFiles, through: 0, by: -1) where isWanted {
                try AuditFile.read(path(ofAge: age)) { line in
                    guard let number = line.sequence, number > sequence, number <= last else { return true }
                    if let since, let time = line.time, time < since { return true }
                    isWanted = body(String(decoding: line.bytes, as: UTF8.self))
                    return isWanted
                }
            }
        } catch {
            throw KeychainError(error)
        }
        return last
    }

    /// Looks whether every line is what was written, and none is missing.
    public func verify() throws(KeychainError) -> AuditVerdict {
        try drain()
        // A file may be put aside while it is read; then all of it is looked at again.
        for _ in 0..<Self.verifyingTries {
            let snapshot = state.withLock { Snapshot($0.head.copy(), $0.file, $0.number) }
            let verdict = try AuditCheck(store: store, path: path(ofAge:)).verdict(of: snapshot.number, head: snapshot.head)
            if state.withLock({ $0.number == snapshot.number }) { return verdict }
        }
        throw KeychainError(.notAvailable, "the log is written faster than it can be looked at", hint: "try again")
    }

    private static let verifyingTries = 5

    private func path(ofAge age: Int) -> String { Self.path(directory, age) }

    /// Ends the log in good order.
    public func close() {
        try? flush()
        state.withLock { $0.isClosed = true }
    }

    // MARK: Opening

    private static func open(_ store: KeychainStore, _ directory: PrivateDirectory, _ limits: Limits) throws(KeychainError) -> State {
        do throws(StoreError) {
            guard let head = try store.auditHead(), let number = try store.auditFiles().last, let start = try store.auditStart(of: number)
            else {
                let first = AuditPosition.first()
                try store.beginAuditFile(1, at: first, keeping: 0)
                return try fresh(first, number: 1, directory)
            }
            return try resumed(head.copy(), start: start.sequence, number: number, directory, limits)
        } catch {
            throw KeychainError(error)
        }
    }

    private static func fresh(_ head: consuming AuditPosition, number: Int64, _ directory: PrivateDirectory) throws(StoreError) -> State {
        do throws(SystemError) {
            let file = try AuditFile(appendingTo: directory.appending(name))
            return State(head: head, file: file, number: number, length: file.size)
        } catch {
            throw .system(error)
        }
    }

    /// Goes on where the log ends. Lines that came after the database was told are taken over if they are what their keys say; the database is
    /// told with the next one. Lines that are not are left for ``verify()`` to find.
    private static func resumed(
        _ head: consuming AuditPosition, start: UInt64, number: Int64, _ directory: PrivateDirectory, _ limits: Limits
    ) throws(StoreError) -> State {
        do throws(SystemError) {
            let current = directory.appending(name)
            var first: UInt64?
            try AuditFile.read(current) { line in
                first = line.sequence
                return false
            }
            // A kill has left a file that was to be put aside.
            if let first, first <= start { try rotate(directory, keeping: limits.keptFiles) }
            let known = head.sequence
            var isWhole = true
            let (length, hasRest) = try AuditFile.read(current) { line in
                guard let sequence = line.sequence, let body = line.body, sequence > known else { return true }
                guard isWhole, sequence == head.sequence + 1, line.code == head.key.code(of: body, after: head.code) else {
                    isWhole = false
                    return true
                }
                head.sequence = sequence
                head.code = line.code ?? []
                head.key.evolve()
                return true
            }
            let file = try AuditFile(appendingTo: current)
            if hasRest { try file.cut(to: length) }
            var state = State(head: head, file: file, number: number, length: file.size)
            state.isDirty = state.head.sequence > known
            return state
        } catch {
            throw .system(error)
        }
    }

    /// Puts the file that was written aside, and what is aside one further.
    private static func rotate(_ directory: PrivateDirectory, keeping kept: Int) throws(SystemError) {
        for age in stride(from: kept, through: 1, by: -1) {
            guard rename(path(directory, age - 1), path(directory, age)) == 0 || errno == ENOENT else {
                throw .last("put aside", path: path(directory, age - 1))
            }
        }
        if kept == 0 { unlink(path(directory, 0)) }
        try directory.synchronize()
    }

    private static func path(_ directory: PrivateDirectory, _ age: Int) -> String {
        directory.appending(age == 0 ? name : "\(name).\(age)")
    }

    static let name = "audit.log"
}
