// SPDX-License-Identifier: Apache-2.0

import KeychainModel
@testable import Presence
import Testing

/// The questions that are displayed, wait, or are answered without a prompt.
///
/// Each line of a scenario is an event and its decisions. `open a git i1` opens the question `a` of
/// the program `git` about the item `i1`; `git.2` is a second process of it, `u2/git` the program
/// of a second user, `git!` a confirmation instead of a passcode. `end a cancelled` is the answer
/// of a person, `leave a` the end of the wait, and `wait 5` five seconds.
@Suite("Queue of questions")
struct PromptQueueTests {
    @Test("Five equal questions of a process are displayed once, and have one answer")
    func equal() throws {
        try Self.run(
            """
            open a git i1 -> a ask
            open b git i1 ->
            open c git i1 ->
            open d git i1 ->
            open e git i1 ->
            end a confirmed -> a confirmed, b confirmed, c confirmed, d confirmed, e confirmed
            open f git i1 -> f ask
            """)
    }

    @Test(
        "A yes is only for equal questions; another item, reason, factor or process is asked for itself",
        arguments: ["git i2", "git i1 reason", "git! i1", "git.2 i1", "git i1 - wrong", "git i1 - - G"])
    func yes(_ other: String) throws {
        try Self.run(
            """
            open a git i1 -> a ask
            open b \(other) ->
            open c git i1 ->
            end a confirmed -> a confirmed, b ask, c confirmed
            end b confirmed -> b confirmed
            """)
    }

    @Test(
        "A no ends all open questions of the program, in all its processes", arguments: ["cancelled", "denied"])
    func no(_ outcome: String) throws {
        try Self.run(
            """
            open a git i1 -> a ask
            open b git i2 ->
            open c git.2 i1 ->
            open d git i1 ->
            open e other i1 ->
            open f u2/git i1 -> f ask
            end a \(outcome) -> a \(outcome), b \(outcome), c \(outcome), d \(outcome), e ask
            end e confirmed -> e confirmed
            end f confirmed -> f confirmed
            """)
    }

    @Test("One question of a user is displayed at a time, in the order of their opening")
    func order() throws {
        try Self.run(
            """
            open a p i1 -> a ask
            open b q i1 ->
            open c r i1 ->
            open d u2/p i1 -> d ask
            end b confirmed ->
            end a unavailable -> a unavailable, b ask
            open e p i1 ->
            end b confirmed -> b confirmed, c ask
            end c cancelled -> c cancelled, e ask
            end e confirmed -> e confirmed
            """)
    }

    @Test("A question that is no longer waited for is replaced by an equal one, or by the next")
    func leaving() throws {
        try Self.run(
            """
            open a git i1 -> a ask
            open b git i1 ->
            open c git i2 ->
            open d git i2 ->
            leave a -> b ask
            leave c ->
            leave c ->
            leave b -> d ask
            end d confirmed -> d confirmed
            leave d ->
            end a confirmed ->
            """)
    }

    @Test("A person who leaves no answer has not cancelled: the program may ask again")
    func leavingIsNoCancellation() throws {
        try Self.run(
            """
            open a git i1 -> a ask
            leave a ->
            open b git i1 -> b ask
            leave b ->
            open c git i1 -> c ask
            """)
    }

    @Test("After two cancellations within ten seconds, a program is cancelled without a prompt for ten seconds")
    func silenced() throws {
        try Self.run(
            """
            open a git i1 -> a ask
            end a cancelled -> a cancelled
            wait 9
            open b git.2 i2 -> b ask
            end b cancelled -> b cancelled
            open c git i1 -> c cancelled
            open d other i1 -> d ask
            open e u2/git i1 -> e ask
            wait 9
            open f git.3 i3 -> f cancelled
            end d confirmed -> d confirmed
            wait 1
            open g git i1 -> g ask
            """)
    }

    @Test("Two cancellations with ten seconds between them, or one for several questions, silence no program")
    func notSilenced() throws {
        try Self.run(
            """
            open a git i1 -> a ask
            open b git i2 ->
            end a cancelled -> a cancelled, b cancelled
            open c git i1 -> c ask
            end c denied -> c denied
            open d git i1 -> d ask
            wait 10
            end d cancelled -> d cancelled
            open e git i1 -> e ask
            """)
    }

    @Test("A denied confirmation counts as a cancellation")
    func denied() throws {
        try Self.run(
            """
            open a git! i1 -> a ask
            end a denied -> a denied
            open b git! i1 -> b ask
            end b denied -> b denied
            open c git i1 -> c cancelled
            """)
    }

    @Test("The number of open questions of a program and of a user is limited")
    func limits() throws {
        try Self.run(
            """
            open a git i1 -> a ask
            open b git i1 ->
            open c git.2 i2 ->
            open d git i3 -> d refused 3
            open e p i1 ->
            open f q i1 ->
            open g r i1 -> g refused 5
            open h u2/git i1 -> h ask
            leave b ->
            open i r i1 ->
            """, limits: PromptLimits(maxForUser: 5, maxForProgram: 3))
    }

    @Test("Nothing is remembered of questions that have ended, and of cancellations after their time")
    func memory() {
        var queue = PromptQueue(PromptLimits())
        for number in 0..<1000 {
            let question = PromptQuestion(Self.request(["program\(number)", "i"], user: UInt32(number)))
            let now = UInt64(number) * 1_000_000_000
            let (ticket, decision) = queue.open(question, now: now)
            #expect(decision == .ask)
            _ = queue.finish(ticket, with: .cancelled, now: now)
            #expect(queue.counts.open == 0 && queue.counts.users == 0 && queue.counts.programs <= 10)
        }
    }

    @Test("In any order of events, every question gets one answer, and one question of a user is displayed")
    func randomEvents() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var queue = PromptQueue(PromptLimits(maxForUser: 9, maxForProgram: 5))
            var (open, displayed): ([PromptQueue.Ticket: UInt32], [UInt32: PromptQueue.Ticket]) = ([:], [:])
            func apply(_ decisions: [PromptQueue.Ticket: PromptQueue.Decision]) {
                for case (let ticket, .answer) in decisions {
                    let user = open.removeValue(forKey: ticket)
                    #expect(user != nil)
                    if let user, displayed[user] == ticket { displayed[user] = nil }
                }
                for (ticket, decision) in decisions where decision == .ask {
                    guard let user = open[ticket] else { continue }
                    #expect(displayed[user] == nil)
                    displayed[user] = ticket
                }
            }
            for step in 0..<100 {
                let now = UInt64(step) * 1_000_000_000
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    let user = UInt32.random(in: 1...2, using: &generator)
                    let words = [
                        "p\(Int.random(in: 0..<3, using: &generator))", "i\(Int.random(in: 0..<3, using: &generator))",
                    ]
                    let (ticket, decision) = queue.open(PromptQuestion(Self.request(words, user: user)), now: now)
                    open[ticket] = user
                    if let decision { apply([ticket: decision]) }
                case 2:
                    guard let ticket = displayed.values.randomElement(using: &generator) else { continue }
                    let outcomes: [PresenceOutcome] = [.cancelled, .denied, .confirmed(nil)]
                    apply(queue.finish(ticket, with: outcomes.randomElement(using: &generator) ?? .denied, now: now))
                default:
                    guard let ticket = open.keys.randomElement(using: &generator) else { continue }
                    let user = open.removeValue(forKey: ticket)
                    if let user, displayed[user] == ticket { displayed[user] = nil }
                    apply(queue.leave(ticket))
                }
                #expect(queue.counts.open == open.count)
                #expect(Set(open.values) == Set(displayed.keys))
            }
        }
    }

    // MARK: Scenarios

    private static func run(_ scenario: String, limits: PromptLimits = PromptLimits()) throws {
        var queue = PromptQueue(limits)
        var (names, tickets): ([PromptQueue.Ticket: String], [String: PromptQueue.Ticket]) = ([:], [:])
        var now: UInt64 = 1_000_000_000_000
        for line in scenario.split(separator: "\n") {
            let parts = line.split(separator: "->", omittingEmptySubsequences: false)
            let words = parts[0].split(separator: " ").map(String.init)
            var decisions: [PromptQueue.Ticket: PromptQueue.Decision] = [:]
            switch words[0] {
            case "wait": now += try #require(UInt64(words[1])) * 1_000_000_000
            case "open":
                let opened = queue.open(PromptQuestion(request(Array(words.dropFirst(2)))), now: now)
                (names[opened.ticket], tickets[words[1]]) = (words[1], opened.ticket)
                decisions[opened.ticket] = opened.decision
            case "leave": decisions = queue.leave(try #require(tickets[words[1]]))
            default:
                decisions = queue.finish(
                    try #require(tickets[words[1]]), with: try #require(outcomes[words[2]]), now: now)
            }
            let found = decisions.sorted { $0.key < $1.key }.map { "\(names[$0.key] ?? "?") \(text($0.value))" }
            let expected = parts.count > 1 ? parts[1].split(separator: ",").map { $0.trimmed } : []
            #expect(found == expected, "\(line)")
        }
    }

    /// `USER/PROGRAM.PROCESS! ITEM REASON FAILURE GROUP`; `-` is an empty reason or no failure.
    private static func request(_ words: [String], user: UInt32 = 1) -> PresenceRequest {
        var name = words[0]
        var user = user
        if name.hasPrefix("u2/") { (name, user) = (String(name.dropFirst(3)), 2) }
        let isConfirmation = name.hasSuffix("!")
        let fields = name.split { $0 == "." || $0 == "!" }
        let process = fields.count > 1 ? Int32(fields[1]) ?? 1 : 1
        let program = CallerIdentity(
            executable: "/usr/bin/\(fields[0])", declaredGroups: words.count > 4 ? [words[4]] : nil,
            process: CallerIdentity.ProcessIdentity(user: user, process: process))
        return PresenceRequest(
            isConfirmation ? .confirmation : .passcode, user: user, program: program,
            subject: .item(label: "same label", identifier: words[1]),
            reason: words.count > 2 && words[2] != "-" ? words[2] : "", place: .none,
            previousFailure: words.count > 3 && words[3] == "wrong" ? .wrongSecret(attemptsLeft: 2) : nil)
    }

    private static let outcomes: [String: PresenceOutcome] = [
        "confirmed": .confirmed(nil), "cancelled": .cancelled, "denied": .denied,
        "unavailable": .unavailable(.noMethod(.passcode)),
    ]

    private static func text(_ decision: PromptQueue.Decision) -> String {
        switch decision {
        case .ask: "ask"
        case .answer(.unavailable(.tooManyQuestions(let limit))): "refused \(limit)"
        case .answer(let outcome): outcomes.first { $0.value == outcome }?.key ?? "\(outcome)"
        }
    }
}

extension Substring {
    fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
