// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Writes the log. Holds the position at its end, and the state that the next line depends on. Not
/// thread-safe: only one thread at a time may use it.
struct AuditWriter: ~Copyable {
    private let store: KeychainStore
    private let files: AuditFiles
    private let limits: AuditLog.Limits
    private(set) var head: AuditPosition
    private(set) var file: AuditFile
    /// The number of the current file.
    private(set) var number: Int64
    private var length: Int
    /// When the first line of the file was written, in seconds since 2001; nil if it has none.
    private var began: Double?
    private var repeats: AuditDeduplicator
    /// Files that were removed, and that no line reports yet.
    private var removals: [AuditRemoval] = []
    /// Files that contain no more refusals to remove.
    private var compacted: Set<Int64> = []
    /// nil until it is requested.
    private var guesses: PasscodeGuesses?
    /// Whether the database does not have the current head yet.
    var isDirty = false

    // MARK: Writing

    /// Writes or counts events. Events that are written or counted are removed from `rest`.
    mutating func write(_ rest: inout ArraySlice<AuditEvent>) throws(KeychainError) {
        while let first = rest.first {
            if length >= limits.fileLength || isExpired(at: first.time) { try beginFile(at: first.time) }
            if length == 0 { began = first.time }
            var batch = Batch(head.copy())
            for removal in removals { batch.append(.removal(removal), at: first.time) }
            var count = 0
            for event in rest where count == 0 || length + batch.bytes.count < limits.fileLength {
                for content in repeats.take(event) { append(content, at: event.time, to: &batch) }
                count += 1
            }
            try commit(batch)
            removals = []
            for event in rest.prefix(count) { guesses?.record(event.entry, at: event.time) }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes the repetitions with an expired interval; if `isEnd`, all repetitions.
    ///
    /// - Parameter now: seconds since 2001.
    mutating func writeRepeats(at now: Double, isEnd: Bool = false) throws(KeychainError) {
        let contents = isEnd ? repeats.endAll() : repeats.takeExpired(at: now)
        var batch = Batch(head.copy())
        for content in contents { append(content, at: now, to: &batch) }
        try commit(batch)
    }

    /// Whether repetitions are being counted.
    var isCounting: Bool { repeats.isWaiting }

    /// The seconds until further repetitions can be due, including ones that are counted from now on.
    func pauseOfRepeats(from now: Double) -> Double { repeats.pause(from: now) }

    /// Lines that are written together.
    private struct Batch: ~Copyable {
        var position: AuditPosition
        var bytes: [UInt8] = []

        init(_ position: consuming AuditPosition) { self.position = position }

        mutating func append(_ content: AuditContent, at time: Double) {
            let body = content.body(sequence: position.sequence + 1, time: time)
            let code = position.key.code(of: body, after: position.code)
            bytes += AuditLine(body: body, code: code).bytes
            bytes.append(UInt8(ascii: "\n"))
            position.sequence += 1
            position.code = code
            position.key.ratchet()
        }
    }

    private mutating func append(_ content: AuditContent, at time: Double, to batch: inout Batch) {
        let before = batch.bytes.count
        batch.append(content, at: time)
        switch content {
        case .decision(let entry): repeats.charge(entry.source, batch.bytes.count - before)
        case .repeats(let repetition): repeats.charge(repetition.entry.source, batch.bytes.count - before)
        case .removal, .gap: break
        }
    }

    private mutating func commit(_ batch: borrowing Batch) throws(KeychainError) {
        guard !batch.bytes.isEmpty else { return repeats.commit() }
        do throws(SystemError) {
            try file.append(batch.bytes)
        } catch {
            // A part of the bytes may have been written.
            try? file.cut(to: length)
            repeats.rollBack()
            throw KeychainError(error)
        }
        repeats.commit()
        head = batch.position.copy()
        length += batch.bytes.count
        isDirty = true
    }

    private func isExpired(at now: Double) -> Bool {
        guard length > 0, let began else { return false }
        return now - began >= limits.fileAge
    }

    /// Begins a new file. The database is updated first, so that opening the log completes an
    /// interrupted rotation.
    private mutating func beginFile(at now: Double) throws(KeychainError) {
        do throws(SystemError) { try file.synchronize() } catch { throw KeychainError(error) }
        let plan = try AuditRetention(store: store, files: files, limits: limits, now: now).plan(number, &compacted)
        do throws(StoreError) {
            try store.audit.beginFile(number + 1, at: head, keeping: Int64(plan.kept))
        } catch {
            throw KeychainError(error)
        }
        do throws(SystemError) {
            try files.rotate(keeping: plan.kept)
            file = try AuditFile(appendingTo: files.path(ofAge: 0))
        } catch {
            // The next attempt begins the same file.
            throw KeychainError(error)
        }
        number += 1
        length = 0
        removals += plan.removals
        repeats.beginFile()
    }

    // MARK: Passcodes

    /// Returns the programs that gave wrong passcodes since the last accepted one.
    mutating func passcodeGuesses() throws(KeychainError) -> [PasscodeGuess] {
        if let guesses { return guesses.sources }
        var found = PasscodeGuesses()
        do throws(SystemError) {
            for age in stride(from: try files.count(), through: 0, by: -1) {
                try AuditFile.read(files.path(ofAge: age)) { line in
                    found.record(line)
                    return true
                }
            }
        } catch {
            throw KeychainError(error)
        }
        for repetition in repeats.pending {
            found.record(repetition.entry, at: repetition.last, count: repetition.count)
        }
        guesses = found
        return found.sources
    }
}

// MARK: - Opening

extension AuditWriter {
    /// Continues the log at its end, or begins it.
    static func open(_ store: KeychainStore, _ files: AuditFiles, _ limits: AuditLog.Limits) throws(StoreError)
        -> AuditWriter
    {
        let numbers = try store.audit.files()
        guard let head = try store.audit.head(), let number = numbers.last,
            let start = try store.audit.start(of: number)
        else {
            let first = AuditPosition.first()
            try store.audit.beginFile(1, at: first, keeping: 0)
            do throws(SystemError) {
                let file = try AuditFile(appendingTo: files.path(ofAge: 0))
                return AuditWriter(
                    store, files, limits, AuditDeduplicator(limits), End(position: first.copy()), file, number: 1)
            } catch {
                throw .system(error)
            }
        }
        let known = head.sequence
        let oldest =
            try numbers.first.flatMap { (first) throws(StoreError) in try store.audit.start(of: first)?.sequence } ?? 0
        var repeats = AuditDeduplicator(limits)
        do throws(SystemError) {
            try completeRotation(files, start: start.sequence)
            let end = try end(of: files.path(ofAge: 0), from: head, &repeats)
            let file = try AuditFile(appendingTo: files.path(ofAge: 0))
            if end.hasPartialLine { try file.cut(to: end.length) }
            var writer = AuditWriter(store, files, limits, repeats, end, file, number: number)
            writer.isDirty = writer.head.sequence > known
            writer.removals = try unreportedRemovals(writer.length, files, numbers, oldest: oldest)
            return writer
        } catch {
            throw .system(error)
        }
    }

    private init(
        _ store: KeychainStore, _ files: AuditFiles, _ limits: AuditLog.Limits, _ repeats: AuditDeduplicator,
        _ end: consuming End,
        _ file: AuditFile, number: Int64
    ) {
        self.store = store
        self.files = files
        self.limits = limits
        self.repeats = repeats
        self.file = file
        self.number = number
        head = end.position.copy()
        length = file.size
        began = end.began
    }

    /// Renames a file that an interrupted rotation has left under the name of the current one.
    private static func completeRotation(_ files: AuditFiles, start: UInt64) throws(SystemError) {
        var first: UInt64?
        try AuditFile.read(files.path(ofAge: 0)) { line in
            first = line.sequence
            return false
        }
        guard let first, first <= start else { return }
        try files.rotate(keeping: min(files.maxCount, try files.count() + 1))
    }

    /// The end of a file, and the size of its lines.
    private struct End: ~Copyable {
        var position: AuditPosition
        /// The length of the complete lines, in bytes.
        var length = 0
        /// Whether an incomplete line follows them.
        var hasPartialLine = false
        /// The time of the first line, in seconds since 2001.
        var began: Double?
    }

    /// Finds the end of the log. Lines after the stored head are accepted if their codes are valid;
    /// the next update of the database includes them. Invalid lines are left for
    /// ``AuditLog/verify()``.
    private static func end(
        of path: String, from head: borrowing AuditPosition, _ repeats: inout AuditDeduplicator
    ) throws(SystemError) -> End {
        var position = head.copy()
        let known = head.sequence
        var isComplete = true
        var parts: [AuditSource: Int] = [:]
        var began: Double?
        let (length, hasPartialLine) = try AuditFile.read(path) { line in
            if began == nil { began = line.time.map { $0 - Double(Clocks.secondsBetweenEpochs) } }
            if let source = line.source { parts[source, default: 0] += line.bytes.count + 1 }
            guard let sequence = line.sequence, sequence > known, isComplete else { return true }
            isComplete = position.advance(over: line, nil)
            return true
        }
        for (source, length) in parts { repeats.charge(source, length) }
        repeats.commit()
        return End(position: position, length: length, hasPartialLine: hasPartialLine, began: began)
    }

    /// Returns the files that were removed before the current file began, if the process was killed
    /// before it wrote the line that reports them.
    ///
    /// - Parameter oldest: the number of the line before the oldest file.
    private static func unreportedRemovals(
        _ length: Int, _ files: AuditFiles, _ numbers: [Int64], oldest: UInt64
    ) throws(SystemError) -> [AuditRemoval] {
        guard length == 0, numbers.count > 1, oldest > 0, try files.count() == numbers.count - 1 else { return [] }
        return [AuditRemoval(.unknown, first: 1, last: oldest, lines: oldest)]
    }
}
