// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Selects the decisions that get their own line, and counts the others.
///
/// The first refusal of a kind is written immediately, and so is the first after a pause.
/// Repetitions by the same program are counted. One line reports them when the program does
/// something else, when the interval has passed, when the maximum count is reached, and when the
/// log is closed. A program that has used up its part of the file is throttled: only the first
/// decision of each kind is written, also of decisions that are not refusals.
struct AuditDeduplicator: Sendable {
    /// The properties that two decisions of a program must share to be the same.
    private struct Key: Hashable {
        let operation: String
        let itemClass: ItemClass?
        let status: OSStatusCode
        let passcode: AuditEntry.Passcode?
        let grade: AccessGroup.Grade
        /// nil where the program is throttled.
        let group: AuditEntry.Group?
        let isThrottled: Bool

        init(_ entry: AuditEntry, isThrottled: Bool) {
            operation = entry.operation
            itemClass = entry.itemClass
            status = entry.status
            passcode = entry.passcode
            grade = entry.grade
            group = isThrottled ? nil : entry.group
            self.isThrottled = isThrottled
        }
    }

    private struct Counter {
        var repetition: AuditRepetition
        /// When the last line of these decisions was written, in seconds since 2001.
        var since: Double
    }

    private struct Program {
        /// The size of the program's lines in this file, in bytes.
        var length = 0
        var counters: [Key: Counter] = [:]
    }

    /// A replaced value, for ``rollBack()``.
    private enum Undo {
        case counter(AuditSource, Key, Counter?)
        case length(AuditSource, Int)
    }

    private let limits: AuditLog.Limits
    private var programs: [AuditSource: Program] = [:]
    private var counterCount = 0
    private var journal: [Undo] = []

    init(_ limits: AuditLog.Limits) {
        self.limits = limits
    }

    // MARK: Deduplication

    /// Returns the lines to write for a decision: none, its own line, or repetitions followed by
    /// its own line.
    mutating func take(_ event: AuditEvent) -> [AuditContent] {
        let source = event.entry.source
        let isThrottled = (programs[source]?.length ?? 0) >= limits.programLength
        let key = Key(event.entry, isThrottled: isThrottled)
        var contents: [AuditContent] = []
        if let counter = programs[source]?.counters[key] {
            if isRunning(counter, at: event.time) { return count(event, source, key, counter) }
            contents += content(counter)
            setCounter(nil, source, key)
        } else if !isThrottled {
            contents += end(of: source)
        }
        contents.append(.decision(event.entry))
        if event.entry.isRefusal || isThrottled {
            if counterCount >= limits.maxCounters { contents = endAll() + contents }
            let repetition = AuditRepetition(
                entry: event.entry, count: 0, first: event.time, last: event.time, isThrottled: isThrottled)
            setCounter(Counter(repetition: repetition, since: event.time), source, key)
        }
        return contents
    }

    private mutating func count(_ event: AuditEvent, _ source: AuditSource, _ key: Key, _ counter: Counter)
        -> [AuditContent]
    {
        var counter = counter
        if counter.repetition.count == 0 { counter.repetition.first = event.time }
        counter.repetition.count += 1
        counter.repetition.last = event.time
        counter.repetition.entry = event.entry
        let contents = counter.repetition.count >= limits.maxRepeats ? content(counter) : []
        if !contents.isEmpty { (counter.repetition.count, counter.since) = (0, event.time) }
        setCounter(counter, source, key)
        return contents
    }

    /// Records that a line of the program was written.
    mutating func charge(_ source: AuditSource, _ length: Int) {
        let before = programs[source]?.length ?? 0
        journal.append(.length(source, before))
        programs[source, default: Program()].length = before + length
    }

    // MARK: Ending repetitions

    /// Returns the repetitions with an expired interval. If there were none in the interval, the next decision of the
    /// kind is written immediately again.
    mutating func takeExpired(at now: Double) -> [AuditContent] {
        var contents: [AuditContent] = []
        for (source, program) in programs {
            for (key, counter) in program.counters where !isRunning(counter, at: now) {
                contents += content(counter)
                guard counter.repetition.count > 0 else {
                    setCounter(nil, source, key)
                    continue
                }
                var next = counter
                (next.repetition.count, next.since) = (0, now)
                setCounter(next, source, key)
            }
        }
        return contents
    }

    /// Returns all repetitions that were counted, and resets the counters.
    mutating func endAll() -> [AuditContent] {
        Array(programs.keys).flatMap { end(of: $0, includingThrottled: true) }
    }

    private mutating func end(of source: AuditSource, includingThrottled: Bool = false) -> [AuditContent] {
        guard let counters = programs[source]?.counters, !counters.isEmpty else { return [] }
        var contents: [AuditContent] = []
        for (key, counter) in counters where includingThrottled || !key.isThrottled {
            contents += content(counter)
            setCounter(nil, source, key)
        }
        return contents
    }

    private func content(_ counter: Counter) -> [AuditContent] {
        counter.repetition.count > 0 ? [.repeats(counter.repetition)] : []
    }

    /// Returns whether repetitions are still counted. A clock that was set back ends the interval.
    private func isRunning(_ counter: Counter, at now: Double) -> Bool {
        now >= counter.since && now < end(counter)
    }

    private func end(_ counter: Counter) -> Double {
        counter.since + (counter.repetition.isThrottled ? limits.throttledInterval : limits.repeatInterval)
    }

    /// The seconds until ``takeExpired(at:)`` can end a counter, also one that begins later.
    func pause(from now: Double) -> Double {
        let ends = programs.values.lazy.flatMap { $0.counters.values }.map { end($0) - now }
        return min(limits.repeatInterval, limits.throttledInterval, ends.min() ?? .infinity)
    }

    /// The repetitions that were counted and are not written yet.
    var pending: [AuditRepetition] {
        programs.values.flatMap { $0.counters.values.map(\.repetition) }.filter { $0.count > 0 }
    }

    /// Whether there are counters that ``takeExpired(at:)`` will end.
    var isWaiting: Bool { counterCount > 0 }

    // MARK: Files

    /// Begins a new file. Each program has a new part in it.
    mutating func beginFile() {
        programs = programs.filter { !$0.value.counters.isEmpty }.mapValues { Program(counters: $0.counters) }
    }

    /// Confirms the changes since the last call: their lines are in the file.
    mutating func commit() { journal = [] }

    /// Undoes the changes since the last ``commit()``: their lines could not be written.
    mutating func rollBack() {
        let changes = journal
        for change in changes.reversed() {
            switch change {
            case .counter(let source, let key, let previous): setCounter(previous, source, key)
            case .length(let source, let previous): programs[source]?.length = previous
            }
        }
        journal = []
    }

    private mutating func setCounter(_ new: Counter?, _ source: AuditSource, _ key: Key) {
        let previous = programs[source]?.counters[key]
        journal.append(.counter(source, key, previous))
        counterCount += (new == nil ? 0 : 1) - (previous == nil ? 0 : 1)
        programs[source, default: Program()].counters[key] = new
    }
}
