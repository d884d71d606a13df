// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyProtocol
package import Presence

/// A question that an agent displays to its user.
///
/// Texts of programs and items are shortened to ``maxTextLength``; a prompt shows less than that.
package struct AgentQuestion: Sendable, Equatable {
    /// Names the question in its answer.
    package let number: UInt64
    /// How long the daemon waits for the answer.
    package let seconds: UInt32
    private var question: PresenceRequest

    package init(_ number: UInt64, _ request: PresenceRequest, seconds: UInt32) {
        self.number = number
        self.seconds = seconds
        var question = request
        question.program.executable = Self.shortened(request.program.executable, WireNames.maxPathLength)
        // A prompt names one group.
        question.program.declaredGroups = Self.first(request.program.declaredGroups)
        question.program.attestedGroups = Self.first(request.program.attestedGroups)
        if case .application(let group)? = request.program.sandbox {
            question.program.sandbox = .application(group: Self.shortened(group))
        }
        if case .item(let label, let identifier) = request.subject {
            question.subject = .item(label: Self.shortened(label), identifier: Self.shortened(identifier))
        }
        question.reason = Self.shortened(request.reason)
        question.cancelTitle = request.cancelTitle.map { Self.shortened($0) }
        question.fallbackTitle = request.fallbackTitle.map { Self.shortened($0) }
        self.question = question
        // The user is that of the agent, and not sent.
        self.question = self.request(for: Self.noUser)
    }

    /// Returns the question for this user, who is the agent's.
    package func request(for user: UInt32) -> PresenceRequest {
        var request = question
        request.user = user
        request.program.process = question.program.process.map {
            CallerIdentity.ProcessIdentity(user: user, process: $0.process)
        }
        return request
    }

    /// In place of the user in the stored form.
    fileprivate static let noUser: UInt32 = 0

    // MARK: Texts

    /// In bytes of UTF-8. The path of a program may be longer: `WireNames.maxPathLength`.
    static let maxTextLength = 1024

    static func shortened(_ text: String, _ maxLength: Int = maxTextLength) -> String {
        guard text.utf8.count > maxLength else { return text }
        var (short, length) = ("", 0)
        for scalar in text.unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= maxLength else { break }
            short.unicodeScalars.append(scalar)
        }
        return short
    }

    static func check(_ texts: [String]) throws(WireError) {
        for text in texts where text.utf8.count > maxTextLength {
            throw .malformed("a text has \(text.utf8.count) bytes, at most \(maxTextLength) are allowed")
        }
    }

    private static func first(_ groups: [String]?) -> [String]? { groups.map { $0.prefix(1).map { shortened($0) } } }
}

// MARK: Coding

extension AgentQuestion {
    init(_ wire: WireQuestion) throws(WireError) {
        try requireKnown(wire)
        try Self.check([wire.reason, wire.cancelTitle, wire.fallbackTitle])
        guard let factor = PresenceFactor.byNumber[wire.factor] else {
            throw .malformed("unknown factor \(wire.factor)")
        }
        number = wire.number
        seconds = wire.seconds
        question = PresenceRequest(
            factor, user: Self.noUser, program: try wire.program.decode(), subject: try wire.decodedSubject(),
            reason: wire.reason, cancelTitle: wire.hasCancelTitle ? wire.cancelTitle : nil,
            fallbackTitle: wire.hasFallbackTitle ? wire.fallbackTitle : nil, place: try wire.place.decode(),
            previousFailure: try wire.decodedFailure())
    }

    var wire: WireQuestion {
        var wire = WireQuestion()
        wire.number = number
        wire.factor = question.factor.number
        wire.program = WireAskingProgram(question.program)
        wire.subject =
            switch question.subject {
            case .item(let label, let identifier): .item(WireAskedItem(label, identifier))
            case .keychain: .keychain(WireNothing())
            }
        wire.reason = question.reason
        if let title = question.cancelTitle { wire.cancelTitle = title }
        if let title = question.fallbackTitle { wire.fallbackTitle = title }
        wire.place = WirePlace(question.place)
        switch question.previousFailure {
        case .wrongSecret(let left)?: wire.previousFailure = .attemptsLeft(UInt32(clamping: left))
        case .entriesDiffer?: wire.previousFailure = .entriesDiffer(WireNothing())
        case .notRecognized?: wire.previousFailure = .notRecognized(WireNothing())
        case nil: break
        }
        wire.seconds = seconds
        return wire
    }
}

extension WireQuestion {
    fileprivate func decodedSubject() throws(WireError) -> PresenceRequest.Subject {
        switch subject {
        case .item(let item):
            try requireKnown(item)
            try AgentQuestion.check([item.label, item.identifier])
            return .item(label: item.label, identifier: item.identifier)
        case .keychain(let nothing):
            try requireKnown(nothing)
            return .keychain
        case nil: throw .malformed("a question has no subject")
        }
    }

    fileprivate func decodedFailure() throws(WireError) -> PresenceRequest.PreviousFailure? {
        switch previousFailure {
        case .attemptsLeft(let count):
            return .wrongSecret(attemptsLeft: try LatchkeyProtocol.number(count, "a number of attempts"))
        case .entriesDiffer(let nothing):
            try requireKnown(nothing)
            return .entriesDiffer
        case .notRecognized(let nothing):
            try requireKnown(nothing)
            return .notRecognized
        case nil: return nil
        }
    }
}

extension WireAskedItem {
    fileprivate init(_ label: String, _ identifier: String) {
        self.init()
        (self.label, self.identifier) = (label, identifier)
    }
}

extension WireAskingProgram {
    fileprivate init(_ program: CallerIdentity) {
        self.init()
        executable = program.executable
        if let group = program.declaredGroups?.first { declaredGroup = group }
        if let group = program.attestedGroups?.first { attestedGroup = group }
        switch program.sandbox {
        case .application(let group)?: sandbox = .application(group)
        case .unidentified?: sandbox = .unidentified(WireNothing())
        case nil: break
        }
        if let process = program.process?.process { self.process = process }
    }

    fileprivate func decode() throws(WireError) -> CallerIdentity {
        try requireKnown(self)
        guard executable.utf8.count <= WireNames.maxPathLength else {
            throw .malformed("the path of a program is too long")
        }
        try AgentQuestion.check([declaredGroup, attestedGroup])
        return CallerIdentity(
            executable: executable, declaredGroups: hasDeclaredGroup ? [declaredGroup] : nil,
            attestedGroups: hasAttestedGroup ? [attestedGroup] : nil, sandbox: try decodedSandbox(),
            process: hasProcess ? CallerIdentity.ProcessIdentity(user: AgentQuestion.noUser, process: process) : nil)
    }

    private func decodedSandbox() throws(WireError) -> CallerIdentity.Sandbox? {
        switch sandbox {
        case .application(let group):
            try AgentQuestion.check([group])
            return .application(group: group)
        case .unidentified(let nothing):
            try requireKnown(nothing)
            return .unidentified
        case nil: return nil
        }
    }
}

extension PresenceFactor {
    fileprivate static let byNumber = Dictionary(uniqueKeysWithValues: allCases.map { ($0.number, $0) })

    fileprivate var number: UInt32 {
        switch self {
        case .passcode: 1
        case .applicationPassword: 2
        case .newApplicationPassword: 3
        case .confirmation: 4
        case .fingerprint: 5
        case .securityKey: 6
        case .securityKeyPIN: 7
        }
    }
}
