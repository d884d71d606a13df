// SPDX-License-Identifier: Apache-2.0

/// The open questions of all users: the displayed one, the waiting ones, and the ones that the answer to another
/// question also answers.
///
/// A value without threads and clocks. ``PromptGate`` reports events to it, and carries out its decisions.
struct PromptQueue {
    /// Names one open question.
    struct Ticket: Hashable, Comparable {
        let number: UInt64
        static func < (one: Ticket, other: Ticket) -> Bool { one.number < other.number }
    }

    /// A decision about an open question.
    enum Decision: Equatable {
        /// It is displayed now. ``finish(_:with:now:)`` must follow.
        case ask
        /// It is answered, and no longer open.
        case answer(PresenceOutcome)
    }

    /// Equal questions. Only the first one is displayed.
    private struct Group {
        let question: PromptQuestion
        var tickets: [Ticket]
    }

    /// The groups of one user, in order. The first one is displayed.
    private var groups: [UInt32: [Group]] = [:]
    private var questions: [Ticket: PromptQuestion] = [:]
    private var history: CancellationHistory
    private var lastNumber: UInt64 = 0
    private let limits: PromptLimits

    init(_ limits: PromptLimits) {
        self.limits = limits
        history = CancellationHistory(window: limits.window)
    }

    /// Opens a question.
    ///
    /// - Parameter now: nanoseconds of `BootClock`.
    /// - Returns: a decision, or nil if the question waits.
    mutating func open(_ question: PromptQuestion, now: UInt64) -> (ticket: Ticket, decision: Decision?) {
        lastNumber &+= 1
        let ticket = Ticket(number: lastNumber)
        history.prune(now: now)
        if history.isSilenced(question.program, now: now) { return (ticket, .answer(.cancelled)) }
        if let limit = exceededLimit(question) {
            return (ticket, .answer(.unavailable(.tooManyQuestions(limit: limit))))
        }
        questions[ticket] = question
        var line = groups[question.user] ?? []
        defer { groups[question.user] = line }
        if let index = line.firstIndex(where: { $0.question == question }) {
            line[index].tickets.append(ticket)
            return (ticket, nil)
        }
        line.append(Group(question: question, tickets: [ticket]))
        return (ticket, line.count == 1 ? .ask : nil)
    }

    /// Ends the displayed question with a person's answer, or because it cannot be asked.
    ///
    /// - Returns: decisions about this question and others.
    mutating func finish(_ ticket: Ticket, with outcome: PresenceOutcome, now: UInt64) -> [Ticket: Decision] {
        guard let question = questions[ticket], var line = groups[question.user],
            let index = line.firstIndex(where: { $0.tickets.first == ticket }), index == 0
        else { return [:] }
        // No more than one answer counts as a cancellation, however many questions it ends.
        if outcome == .cancelled || outcome == .denied && question.factor == .confirmation {
            history.prune(now: now)
            history.record(question.program, now: now)
        }
        var answered = [line.removeFirst()]
        if outcome == .cancelled || outcome == .denied {
            // A no is safe for other items of the program as well; a yes is only for equal words.
            answered += line.filter { $0.question.program == question.program }
            line.removeAll { $0.question.program == question.program }
        }
        var decisions = close(answered.flatMap(\.tickets), outcome)
        decisions.merge(displayFirst(of: line, question.user)) { $1 }
        return decisions
    }

    /// Removes a question when its program no longer waits for it. An equal question takes its place.
    ///
    /// - Returns: decisions about other questions.
    mutating func leave(_ ticket: Ticket) -> [Ticket: Decision] {
        guard let question = questions.removeValue(forKey: ticket), var line = groups[question.user],
            let index = line.firstIndex(where: { $0.tickets.contains(ticket) })
        else { return [:] }
        let wasDisplayed = index == line.startIndex && line[index].tickets.first == ticket
        line[index].tickets.removeAll { $0 == ticket }
        line.removeAll(where: \.tickets.isEmpty)
        guard wasDisplayed else {
            groups[question.user] = line
            return [:]
        }
        return displayFirst(of: line, question.user)
    }

    /// The number of open questions, of users with open questions, and of programs with remembered cancellations; for
    /// tests.
    var counts: (open: Int, users: Int, programs: Int) { (questions.count, groups.count, history.count) }

    // MARK: Steps

    private mutating func displayFirst(of line: [Group], _ user: UInt32) -> [Ticket: Decision] {
        groups[user] = line.isEmpty ? nil : line
        guard let next = line.first?.tickets.first else { return [:] }
        return [next: .ask]
    }

    private mutating func close(_ tickets: [Ticket], _ outcome: PresenceOutcome) -> [Ticket: Decision] {
        for ticket in tickets { questions[ticket] = nil }
        return Dictionary(uniqueKeysWithValues: tickets.map { ($0, .answer(outcome)) })
    }

    private func exceededLimit(_ question: PromptQuestion) -> Int? {
        let open = (groups[question.user] ?? [])
        let ofUser = open.reduce(0) { $0 + $1.tickets.count }
        let ofProgram = open.reduce(0) { $0 + ($1.question.program == question.program ? $1.tickets.count : 0) }
        if ofProgram >= limits.maxForProgram { return limits.maxForProgram }
        return ofUser >= limits.maxForUser ? limits.maxForUser : nil
    }
}
