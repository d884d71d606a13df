// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem
internal import Presence
internal import SecretMemory

extension PresenceEvaluation {
    /// A connected device, and the enrolled key that it is.
    private struct FoundKey {
        let key: EnrolledSecurityKey
        let device: any SecurityKeyDevice
        let requiresPIN: Bool
    }

    // MARK: Constraints

    /// Lets the person touch an enrolled security key, and adds the keys that it opens to the context.
    ///
    /// - Parameter ownerOnly: whether only keys that satisfy `userPresence` are of use.
    func touchSecurityKey(ownerOnly: Bool = false) throws(KeychainError) {
        let access = try securityKeyAccess()
        let keys = context.keys
        let key = try sources.securityKeyTurns.run(for: user, until: deadline, host.cancellation) {
            () throws(KeychainError) in
            let found = try find(try enrolled(ownerOnly: ownerOnly), access)
            let secret = try secret(of: found)
            try Self.run { () throws(StoreError) in try store.satisfy(keys, with: secret, of: found.key.identifier) }
            return found.key
        }
        context.add(.securityKey(satisfiesUserPresence: key.satisfiesUserPresence), to: keys)
    }

    /// Lets the person touch an enrolled security key, if one is connected and can be used.
    ///
    /// - Returns: whether the context has the keys that it opens.
    /// - Throws: if the person or the program has cancelled.
    func touchSecurityKeyIfConnected(ownerOnly: Bool) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try touchSecurityKey(ownerOnly: ownerOnly)
            return true
        } catch  where !error.endsEvaluation {
            return false
        }
    }

    // MARK: Enrollment

    /// Lets the person touch a new security key twice: to create its credential, and to derive the
    /// first secret.
    func enrollSecurityKey() throws(KeychainError) -> (NewSecurityKeyCredential, SharedSecret) {
        let access = try securityKeyAccess()
        return try sources.securityKeyTurns.run(for: user, until: deadline, host.cancellation) {
            () throws(KeychainError) in
            let device = try newDevice(access)
            let until = deadline
            let requiresPIN = try device.requiresPIN()
            let (created, pin) = try withPIN(requiresPIN) { (pin, isCancelled) throws(KeychainError) in
                try device.createCredential(pin: pin, until: until, isCancelled: isCancelled)
            }
            let answer = try touching { (isCancelled) throws(KeychainError) in
                try device.deriveSecret(from: created.credential, pin: pin, until: until, isCancelled: isCancelled)
            }
            guard case .success(let secret) = answer else { throw Self.wrongPIN }
            return (created, secret)
        }
    }

    /// Returns the only connected device that is none of the enrolled keys.
    private func newDevice(_ access: any SecurityKeyAccess) throws(KeychainError) -> any SecurityKeyDevice {
        let keys = try Self.run { () throws(StoreError) in try store.securityKeys.all() }
        let devices = try access.devices().prefix(Self.maxDevices)
        guard !devices.isEmpty else { throw Self.notConnected("no security key is connected") }
        var new: [any SecurityKeyDevice] = []
        for device in devices {
            var isEnrolled = false
            for key in keys where !isEnrolled {
                if case .own = try device.match(key.enrollment.credential) { isEnrolled = true }
            }
            if !isEnrolled { new.append(device) }
        }
        guard let first = new.first else {
            throw KeychainError(
                .duplicateItem, "the security key is enrolled already", hint: "plug in the one that is to be enrolled")
        }
        guard new.count == 1 else {
            throw KeychainError(
                .param, "\(new.count) security keys are connected that are not enrolled, expected 1",
                hint: "unplug all but the one that is to be enrolled")
        }
        return first
    }

    // MARK: Devices

    private func securityKeyAccess() throws(KeychainError) -> any SecurityKeyAccess {
        if let access = sources.securityKeys { return access }
        throw .authentication(
            .notInteractive, "this program cannot use security keys; latchkeyd and the command latchkey can",
            hint: "systemctl --user enable --now latchkeyd.socket")
    }

    private func enrolled(ownerOnly: Bool) throws(KeychainError) -> [EnrolledSecurityKey] {
        let all = try Self.run { () throws(StoreError) in try store.securityKeys.all() }
        let keys = all.filter { !ownerOnly || $0.satisfiesUserPresence }
        guard !keys.isEmpty else {
            throw .authentication(
                .notInteractive, "no security key is enrolled\(ownerOnly ? " for user presence" : "")",
                hint: "latchkey security-key enroll NAME")
        }
        return keys
    }

    /// Returns a connected device that is one of the keys. A device that proves it precedes one that
    /// proves nothing without its PIN.
    private func find(
        _ keys: [EnrolledSecurityKey], _ access: any SecurityKeyAccess
    ) throws(KeychainError) -> FoundKey {
        var unproven: FoundKey?
        var problem: KeychainError?
        for device in try access.devices().prefix(Self.maxDevices) {
            do throws(KeychainError) {
                for key in keys {
                    switch try device.match(key.enrollment.credential) {
                    case .own(let requiresPIN): return FoundKey(key: key, device: device, requiresPIN: requiresPIN)
                    case .unproven:
                        unproven = unproven ?? FoundKey(key: key, device: device, requiresPIN: true)
                    case .other: break
                    }
                }
            } catch {
                problem = problem ?? error
            }
        }
        if let unproven { return unproven }
        throw problem ?? Self.notConnected("none of the enrolled security keys is connected")
    }

    private func secret(of found: FoundKey) throws(KeychainError) -> SharedSecret {
        let until = deadline
        return try withPIN(found.requiresPIN) { (pin, isCancelled) throws(KeychainError) in
            try found.device.deriveSecret(
                from: found.key.enrollment.credential, pin: pin, until: until, isCancelled: isCancelled)
        }.value
    }

    // MARK: Prompts

    /// Calls `body` with the PIN of the security key; after a wrong one again, as long as the device
    /// accepts one.
    private func withPIN<Value: Sendable>(
        _ isRequired: Bool,
        _ body: (SharedSecret?, @escaping @Sendable () -> Bool) throws(KeychainError) -> SecurityKeyAnswer<Value>
    ) throws(KeychainError) -> (value: Value, pin: SharedSecret?) {
        var question = request(.securityKeyPIN)
        for attempt in 1...Self.maxAttempts {
            let pin = isRequired ? try answer(to: question) : nil
            let outcome = try touching { (isCancelled) throws(KeychainError) in try body(pin, isCancelled) }
            switch outcome {
            case .success(let value): return (value, pin)
            case .wrongPIN(let accepted):
                let left = min(accepted ?? Self.maxAttempts, Self.maxAttempts - attempt)
                guard isRequired, left > 0 else { throw Self.wrongPIN }
                question.previousFailure = .wrongSecret(attemptsLeft: left)
            }
        }
        throw Self.wrongPIN
    }

    /// Calls `body` to wait for a touch, while the person sees its purpose. Where nothing can be displayed, the key's
    /// own signal must suffice.
    private func touching<Value>(
        _ body: (@escaping @Sendable () -> Bool) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        let question = request(.securityKey)
        let isDisplayed = sources.methods.unavailability(of: .securityKey, for: user, at: question.place) == nil
        let deadline = deadline
        var touched: Result<Value, KeychainError>?
        let outcome = try whileCurrent(context.keys) { cancellation in
            func touch(_ cancellation: Cancellation) -> PresenceOutcome {
                touched = Result { () throws(KeychainError) in try body { cancellation.isCancelled } }
                return .confirmed(nil)
            }
            guard isDisplayed else { return touch(cancellation) }
            return sources.methods.ask(question, until: deadline, cancellation: cancellation) {
                touch($0.cancellation)
            }
        }
        guard case .confirmed = outcome, let touched else { throw Self.failure(outcome) }
        return try touched.get()
    }

    // MARK: Errors

    private static func run<Result>(_ body: () throws(StoreError) -> Result) throws(KeychainError) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            if case .keybag(.wrongSecurityKey) = error {
                throw .authentication(.failed, "the security key gives another secret than at its enrollment")
            }
            throw failure(error)
        }
    }

    private static func notConnected(_ problem: String) -> KeychainError {
        .authentication(.notInteractive, problem, hint: "plug in the security key")
    }

    private static let wrongPIN = KeychainError.authentication(
        .failed, "the PIN of the security key is wrong", hint: "too many wrong PINs block the security key")

    /// How many connected devices are asked; each takes some milliseconds for each enrolled key.
    private static let maxDevices = 8
}
