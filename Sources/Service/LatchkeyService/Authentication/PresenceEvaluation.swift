// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem
internal import Presence
internal import SecretMemory

/// Asks the person for the factors that a target requires, and adds the keys that the answers release to a context. One
/// value for each call.
struct PresenceEvaluation {
    let store: KeychainStore
    let sources: PresenceSources
    let context: ProvenContext
    /// The user of the keychain.
    let user: UInt32
    let caller: CallerIdentity
    let subject: PresenceRequest.Subject
    let prompt: AuthenticationPrompt
    let host: any EvaluationHost
    let recognitions: RecentRecognitions

    // MARK: Constraints

    /// Asks until the context satisfies the constraints.
    ///
    /// - Throws: an error with an ``AuthenticationFailure``.
    func satisfy(_ constraints: AccessConstraints) throws(KeychainError) {
        let open = constraints.terms.filter { !context.satisfies($0) }
        switch constraints.threshold {
        case .all: for term in open { try prove(term) }
        case .one: if open.count == constraints.terms.count { try proveOne(of: open) }
        }
        if constraints.requiresApplicationPassword, !context.hasPassword {
            try askPassword(.applicationPassword, wrongBefore: context.wrongPasswords)
        }
    }

    /// Asks for the first term that can be asked for. If the person does not succeed in it, the next
    /// one follows; a cancellation ends all. Who chooses the passcode instead of a finger is asked
    /// for it.
    private func proveOne(of terms: [AccessConstraint]) throws(KeychainError) {
        let takesPasscode = terms.contains(.userPresence) || terms.contains(.devicePasscode)
        var reason: KeychainError?
        for term in terms.sorted(by: { $0.promptOrder < $1.promptOrder }) {
            do throws(KeychainError) {
                return try prove(term, offersPasscode: takesPasscode)
            } catch  where error.isFallback && takesPasscode {
                return try askPasscode()
            } catch  where !error.endsEvaluation {
                reason = reason ?? error
            }
        }
        throw reason ?? .authentication(.failed, "the access control has no constraint that can be satisfied")
    }

    /// - Parameter offersPasscode: whether the person can choose the passcode instead of a finger.
    private func prove(_ term: AccessConstraint, offersPasscode: Bool = false) throws(KeychainError) {
        switch term {
        case .devicePasscode: try askPasscode()
        case .userPresence: try proveOwner()
        case .biometryAny, .biometryCurrentSet: try recognize(offersPasscode: offersPasscode)
        case .securityKey: try touchSecurityKey()
        }
    }

    // MARK: Policies

    /// Asks for the factors that a policy requires, unless the context has them already. A program that asks for
    /// biometry alone is told that the person has chosen the passcode instead.
    func satisfy(_ policy: AuthenticationPolicy) throws(KeychainError) {
        switch policy {
        case .owner: if !context.satisfies(.userPresence) { try proveOwner() }
        case .biometry: if !context.satisfies(.biometryAny) { try recognize(offersPasscode: true) }
        case .securityKey: if !context.satisfies(.securityKey) { try prove(.securityKey) }
        }
    }

    /// Biometry if it can be used, otherwise or after a miss a security key that is enrolled for
    /// this and connected, otherwise or after its failure the passcode.
    private func proveOwner() throws(KeychainError) {
        guard store.hasPasscode else { throw Self.noPasscode }
        if sources.biometry?.state(of: user) == .available, store.holdsBiometryKey {
            do throws(KeychainError) {
                return try recognize(offersPasscode: true)
            } catch  where error.isFallback {
                return try askPasscode()
            } catch  where !error.endsEvaluation {
                // Continues with the next factor.
            }
        }
        if try touchSecurityKeyIfConnected(ownerOnly: true) { return }
        try askPasscode()
    }

    // MARK: Biometry

    /// - Parameter offersPasscode: whether the prompt has a button for the passcode, unless the
    ///   program wants none.
    private func recognize(offersPasscode: Bool) throws(KeychainError) {
        guard let biometry = sources.biometry else {
            throw .authentication(
                .biometryNotAvailable, "biometry is available only through latchkeyd",
                hint: "systemctl --user enable --now latchkeyd.socket")
        }
        guard store.hasPasscode else { throw Self.noPasscode }
        switch biometry.state(of: user) {
        case .available, .needsPasscode: break
        case .notAvailable: throw .authentication(.biometryNotAvailable, "there is no sensor for biometry")
        case .notEnrolled:
            throw .authentication(.biometryNotEnrolled, "no finger is enrolled", hint: "fprintd-enroll")
        case .lockedOut:
            throw .authentication(
                .biometryLockout, "too many misses: biometry is locked until the passcode is given",
                hint: "latchkey unlock")
        }
        guard store.holdsBiometryKey else {
            throw .authentication(
                .biometryNotAvailable, "the key of biometry is kept only from an unlock with the passcode to the lock",
                hint: "latchkey unlock")
        }
        let keys = context.keys
        if recognitions.reuse(within: prompt.reuse, for: caller.process, in: store, keys) {
            return context.add(.biometry, to: keys)
        }
        var question = request(.fingerprint)
        let title = prompt.fallbackTitle ?? Self.passcodeTitle
        question.fallbackTitle = offersPasscode && !title.isEmpty ? title : nil
        let match = try match(of: biometry, question, keys)
        do throws(StoreError) {
            try store.satisfy(keys, with: match)
        } catch {
            throw Self.failure(error)
        }
        context.add(.biometry, to: keys)
        recognitions.record(keys, of: caller.process, in: store)
    }

    /// Displays the question, and waits for the sensor.
    private func match(
        of biometry: any Biometry, _ question: PresenceRequest, _ keys: ConstraintKeys
    ) throws(KeychainError) -> BiometricMatch {
        let deadline = deadline
        let outcome = try whileCurrent(keys) { cancellation in
            sources.methods.ask(question, until: deadline, cancellation: cancellation) { shown in
                biometry.recognize(question.user, until: deadline, cancellation: shown.cancellation) {
                    shown.show(.notRecognized)
                }
            }
        }
        switch outcome {
        case .recognized(let match): return match
        case .fallback: throw .authentication(.userFallback, "the person chose the passcode")
        case .denied: throw .authentication(.failed, "no enrolled finger was recognized")
        default: throw Self.failure(outcome)
        }
    }

    // MARK: Passcode

    /// Asks for the passcode, and verifies it; after a wrong one again, as long as no delay runs.
    private func askPasscode() throws(KeychainError) {
        guard store.hasPasscode else { throw Self.noPasscode }
        var question = request(.passcode)
        // Taken before the person is asked: a lock in between ends them, and the answer is void.
        let keys = context.keys
        for attempt in 1...Self.maxAttempts {
            let secret = try answer(to: question, keys)
            do throws(KeychainError) {
                try host.derive { [store] () throws(KeychainError) in
                    try Self.verify(secret, in: store, for: keys)
                }
                context.add(.passcode, to: keys)
                sources.biometry?.passcodeWasVerified(of: user)
                return
            } catch  where error == Self.wrongPasscode && attempt < Self.maxAttempts {
                question.previousFailure = .wrongSecret(attemptsLeft: Self.maxAttempts - attempt)
            } catch  where error.status == .authFailed && error.authentication == nil {
                throw .authentication(.failed, error.problem, hint: error.hint)
            }
        }
    }

    private static func verify(
        _ secret: SharedSecret, in store: KeychainStore, for keys: ConstraintKeys
    ) throws(KeychainError) {
        let passcode: Passcode
        do throws(KeybagError) {
            passcode = try Passcode(secret)
        } catch {
            // A secret that cannot be a passcode is a wrong one; it is not counted, because it cannot be right.
            throw wrongPasscode
        }
        do throws(StoreError) {
            try store.satisfy(keys, with: passcode)
        } catch {
            throw failure(error)
        }
    }

    // MARK: Application password

    /// Asks for the password of an item. Whether it is right shows when the item is opened.
    ///
    /// - Parameter wrongBefore: how many wrong ones the context has had.
    func askPassword(_ factor: PresenceFactor, wrongBefore: Int = 0) throws(KeychainError) {
        guard wrongBefore < Self.maxAttempts else { throw Self.wrongPassword }
        var question = request(factor)
        if wrongBefore > 0 { question.previousFailure = .wrongSecret(attemptsLeft: Self.maxAttempts - wrongBefore) }
        let secret: SharedSecret
        do throws(KeychainError) { secret = try answer(to: question) } catch {
            // The program has given a wrong password: without a terminal, this is the error, and not the missing prompt.
            throw wrongBefore > 0 && error.authentication == .failed(.notInteractive) ? Self.wrongPassword : error
        }
        do throws(KeybagError) {
            context.setPassword(try ApplicationPassword(secret))
        } catch {
            throw KeychainError(error)
        }
    }

    // MARK: Questions

    func request(_ factor: PresenceFactor) -> PresenceRequest {
        PresenceRequest(
            factor, user: user, program: caller, subject: subject, reason: prompt.reason,
            cancelTitle: prompt.cancelTitle, place: prompt.place)
    }

    var deadline: UInt64 { BootClock.system.now() + sources.timeout.nanoseconds }

    /// Returns the secret that the person typed.
    ///
    /// - Parameter keys: the keys that need the answer; nil for the present ones.
    func answer(to question: PresenceRequest, _ keys: ConstraintKeys? = nil) throws(KeychainError) -> SharedSecret {
        let outcome = try whileCurrent(keys ?? context.keys) { cancellation in
            sources.methods.ask(question, until: deadline, cancellation: cancellation)
        }
        guard case .confirmed(let secret?) = outcome else { throw Self.failure(outcome) }
        return secret
    }

    /// Asks, and stops to ask when the answer would be void: after a lock, because it ends the keys, and after the end
    /// of the context.
    func whileCurrent(
        _ keys: ConstraintKeys, _ ask: (Cancellation) -> PresenceOutcome
    ) throws(KeychainError) -> PresenceOutcome {
        guard !context.hasEnded else { throw Self.ended }
        let outcome = ask(
            Cancellation(within: host.cancellation) { [context, store] in context.hasEnded || !store.isCurrent(keys) })
        guard !context.hasEnded else { throw Self.ended }
        guard store.isCurrent(keys) else { throw Self.failure(.keybag(.lockedDuringEvaluation)) }
        return outcome
    }

    /// Why a question was not answered.
    static func failure(_ outcome: PresenceOutcome) -> KeychainError {
        switch outcome {
        case .confirmed, .recognized, .fallback, .denied, .cancelled:
            .authentication(.userCancel, "the person cancelled the prompt")
        case .timedOut: .authentication(.systemCancel, "the prompt was not answered in time")
        case .unavailable(let reason): .authentication(failure(reason), reason.problem, hint: reason.hint)
        }
    }

    private static func failure(_ reason: PresenceUnavailability) -> AuthenticationFailure {
        switch reason {
        case .noFingerprintReader: .biometryNotAvailable
        case .biometryNotEnrolled: .biometryNotEnrolled
        case .biometryLocked: .biometryLockout
        default: .notInteractive
        }
    }

    static func failure(_ error: StoreError) -> KeychainError {
        switch error {
        case .keybag(.lockedDuringEvaluation):
            .authentication(.systemCancel, "the keychain was locked while the person was asked")
        case .keybag(.biometryUnavailable):
            .authentication(.biometryNotAvailable, "the keychain was locked while the person was asked")
        case .keybag(.constraintNeedsPasscode): noPasscode
        default: KeychainError(error)
        }
    }

    private static let noPasscode = KeychainError.authentication(
        .passcodeNotSet, "the keychain has no passcode", hint: "latchkey passcode set")

    /// The only failure that is followed by another prompt for the passcode: after the last one that the settings
    /// allow, the items are destroyed.
    private static let wrongPasscode = KeychainError(KeybagError.wrongPasscode)

    private static let wrongPassword = KeychainError.authentication(
        .failed, "the application password of the item is wrong")

    static let ended = KeychainError.authentication(
        .appCancel, "the program ended the authentication context")

    /// The usual text of the button that takes the passcode instead of a finger.
    private static let passcodeTitle = "Passcode"
    /// How often the person can type a secret for one call.
    static let maxAttempts = 3
}

extension KeychainError {
    /// Whether nothing else is asked after this failure: the person or the program has cancelled.
    var endsEvaluation: Bool {
        switch authentication {
        case .failed(.userCancel)?, .failed(.appCancel)?, .failed(.systemCancel)?: true
        default: false
        }
    }
}

extension KeychainError {
    /// Whether the person has chosen the passcode instead of biometry.
    fileprivate var isFallback: Bool { authentication == .failed(.userFallback) }
}

extension AccessConstraint {
    /// The position of a constraint in the order of prompts: the least effort first.
    fileprivate var promptOrder: Int {
        switch self {
        case .biometryAny, .biometryCurrentSet: 0
        case .securityKey: 1
        case .userPresence: 2
        case .devicePasscode: 3
        }
    }
}
