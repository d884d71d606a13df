// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory
internal import SecurityKey

/// One connected device. A device with a PIN is enrolled with it, and requires it for every use;
/// one without a PIN requires a touch alone.
struct ConnectedSecurityKey: SecurityKeyDevice {
    private let key: SecurityKey

    init(_ key: SecurityKey) { self.key = key }

    func requiresPIN() throws(KeychainError) -> Bool {
        let description = try withErrors(as: KeychainError.init) { () throws(SecurityKeyError) in try key.describe() }
        guard description.supportsHMACSecret else { throw KeychainError(SecurityKeyError.hmacSecretUnsupported) }
        return description.hasPIN
    }

    func match(_ credential: [UInt8]) throws(KeychainError) -> SecurityKeyMatch {
        try withErrors(as: KeychainError.init) { () throws(SecurityKeyError) in
            let credential = try SecurityKeyCredential(decoding: credential)
            do throws(SecurityKeyError) {
                guard try key.hasCredential(credential) else { return .other }
                return .own(requiresPIN: credential.verification == .pin)
            } catch .pinRequired where !credential.provesWithoutPIN {
                return .unproven
            } catch .proofRefused {
                // The enrolled device proves it, so that this is another one, or must be enrolled again.
                return .other
            } catch {
                throw error
            }
        }
    }

    func createCredential(
        pin: SharedSecret?, until deadline: UInt64, isCancelled: @escaping @Sendable () -> Bool
    ) throws(KeychainError) -> SecurityKeyAnswer<NewSecurityKeyCredential> {
        try answer(pin, until: deadline, isCancelled) { (pin, timeout, cancellation) throws(SecurityKeyError) in
            let credential = try key.enroll(
                verification: pin == nil ? .touch : .pin, pin: pin, timeout: timeout, cancellation: cancellation)
            return NewSecurityKeyCredential(
                credential: credential.encoded, alwaysVerifies: !credential.provesWithoutPIN,
                requiresPIN: credential.verification == .pin)
        }
    }

    func deriveSecret(
        from credential: [UInt8], pin: SharedSecret?, until deadline: UInt64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(KeychainError) -> SecurityKeyAnswer<SharedSecret> {
        try answer(pin, until: deadline, isCancelled) { (pin, timeout, cancellation) throws(SecurityKeyError) in
            let credential = try SecurityKeyCredential(decoding: credential)
            return SharedSecret(
                try key.deriveSecret(from: credential, pin: pin, timeout: timeout, cancellation: cancellation))
        }
    }

    // MARK: Operations

    /// Performs an operation that waits for a touch, until another thread sees that it is cancelled.
    private func answer<Value: Sendable>(
        _ pin: SharedSecret?, until deadline: UInt64, _ isCancelled: @escaping @Sendable () -> Bool,
        _ body: (SecurityKeyPIN?, Duration, SecurityKeyCancellation) throws(SecurityKeyError) -> Value
    ) throws(KeychainError) -> SecurityKeyAnswer<Value> {
        let cancellation = SecurityKeyCancellation()
        let end = try Self.watch(cancellation, isCancelled)
        defer { end.raise() }
        do throws(SecurityKeyError) {
            let now = BootClock.system.now()
            let timeout = Duration.nanoseconds(Int64(clamping: deadline > now ? deadline - now : 0))
            return .success(try body(try Self.parsed(pin), timeout, cancellation))
        } catch .wrongPIN(let retries) {
            return .wrongPIN(attemptsLeft: retries)
        } catch .invalidPIN {
            // It was not sent, so that the device does not count it.
            return .wrongPIN(attemptsLeft: nil)
        } catch {
            throw KeychainError(error)
        }
    }

    private static func parsed(_ pin: SharedSecret?) throws(SecurityKeyError) -> SecurityKeyPIN? {
        guard let pin else { return nil }
        return try SecurityKeyPIN(pin)
    }

    /// Requests the cancellation on another thread as soon as `isCancelled` returns true.
    ///
    /// - Returns: the signal that ends the thread.
    private static func watch(
        _ cancellation: SecurityKeyCancellation, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(KeychainError) -> StopSignal {
        let end: StopSignal
        do throws(SystemError) {
            end = try StopSignal()
        } catch {
            throw KeychainError(error)
        }
        let isWatching = BackgroundThread.run {
            while !end.wait(milliseconds: interval) {
                guard isCancelled() else { continue }
                return cancellation.request()
            }
        }
        guard isWatching else {
            throw KeychainError(.notAvailable, "no thread can be started for the security key", hint: "try again")
        }
        return end
    }

    /// How often a cancellation is looked for, in milliseconds.
    private static let interval: Int32 = 50
}
