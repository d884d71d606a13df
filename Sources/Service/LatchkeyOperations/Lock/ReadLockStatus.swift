// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns the state of the lock, with the programs that gave wrong passcodes.
package struct ReadLockStatus: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = [.worksWithoutLog, .readsLock]

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> LockStatus {
        let service = try context.service
        try context.unlockAutomatically()
        var status = try service.lock.status()
        guard status.wrongPasscodes > 0, AccessPolicy.reportsOtherPrograms(to: context.caller),
            let log = try context.auditLog
        else { return status }
        // The state of the lock is reported even if the log cannot be read.
        status.guesses = (try? log.passcodeGuesses()) ?? []
        return status
    }
}

extension LockStatus: ResponseContent {
    package var hasLocked: Bool { state != .unlocked }
}

extension OperationPerformer {
    package func lockStatus() throws(KeychainError) -> LockStatus { try perform(ReadLockStatus()) }
}

// MARK: Coding

extension ReadLockStatus {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .lockStatus(WireNothing()) }
}

extension LockStatus {
    init(_ wire: WireLockStatus) throws(WireError) {
        try requireKnown(wire)
        var open: Set<ProtectionClass> = []
        for code in wire.open { open.insert(try ProtectionClass(wire: code)) }
        self.init(
            state: try LockState(wire: wire.state), hasPasscode: wire.hasPasscode_p,
            hasRecoveryKey: wire.hasRecoveryKey_p, settings: try wire.settings.decode(), open: open,
            graceLeft: wire.hasGraceLeft ? wire.graceLeft : nil,
            wrongPasscodes: try number(wire.wrongPasscodes, "a number of attempts"),
            delay: try number(wire.delay, "a delay"), delayBegan: wire.hasDelayBegan ? wire.delayBegan : nil)
        for guess in wire.guesses { guesses.append(try PasscodeGuess(guess)) }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireLockStatus()
        wire.state = state.wire
        wire.hasPasscode_p = hasPasscode
        wire.hasRecoveryKey_p = hasRecoveryKey
        wire.settings = WireSettings(settings)
        wire.open = open.map { UInt32($0.number) }
        if let grace = graceLeft { wire.graceLeft = grace }
        wire.wrongPasscodes = UInt64(wrongPasscodes)
        wire.delay = UInt64(delay)
        if let began = delayBegan { wire.delayBegan = began }
        wire.guesses = guesses.map { $0.wire }
        return .lockStatus(wire)
    }
}

extension PasscodeGuess {
    fileprivate init(_ wire: WireLockStatus.Guess) throws(WireError) {
        try requireKnown(wire)
        self.init(
            program: wire.program, user: wire.hasUser ? wire.user : nil, process: wire.hasProcess ? wire.process : nil,
            count: try number(wire.count, "a number of passcodes"), first: wire.first, last: wire.last)
    }

    fileprivate var wire: WireLockStatus.Guess {
        var wire = WireLockStatus.Guess()
        wire.program = program
        if let user { wire.user = user }
        if let process { wire.process = process }
        wire.count = UInt64(max(0, count))
        wire.first = first
        wire.last = last
        return wire
    }
}
