// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
public import SystemBus

/// The default fingerprint reader of this machine, by fprintd on the system bus.
///
/// Each function makes its own connection to the bus, and closes it before it returns; fprintd releases the claims of a
/// closed connection in every case.
public struct FingerprintReader: Sendable {
    private let address: BusAddress
    private let trustedUser: UInt32
    private let timeout: Duration

    /// - Parameters:
    ///   - trustedUser: the expected user of fprintd and the bus; root, except in tests. The environment can name
    ///     another bus, but not one that root has started.
    ///   - timeout: of each call to fprintd, because some calls open the reader.
    public init(address: BusAddress = .system, trustedUser: UInt32 = 0, timeout: Duration = .seconds(5)) {
        self.address = address
        self.trustedUser = trustedUser
        self.timeout = timeout
    }

    /// Returns the names of the user's enrolled fingers, such as `right-index-finger`; never empty.
    ///
    /// - Throws: ``FingerprintError/notEnrolled`` if there is none.
    public func enrolledFingers(of user: UInt32) throws(FingerprintError) -> [String] {
        let bus = try connect()
        defer { bus.close() }
        return try service(on: bus).enrolledFingers(of: user)
    }

    /// Claims the reader for the verification of one user's fingers, and calls `body`. The reader is
    /// released before the function returns.
    ///
    /// - Parameter deadline: by `BootClock.system`, in nanoseconds.
    func withVerification<Result>(
        of user: UInt32, until deadline: UInt64, cancellation: Cancellation,
        _ body: (VerificationSession) throws(FingerprintError) -> Result
    ) throws(FingerprintError) -> Result {
        let mailbox = try VerificationMailbox()
        let bus = try connect { mailbox.end(.disconnected) }
        defer { bus.close() }
        let service = try service(on: bus)
        try service.claim(for: user)
        defer { try? service.release() }
        // Only now: a status that fprintd sent to an earlier user of the reader must not arrive.
        let registrations = try service.observe({ mailbox.add($0, isDone: $1) }) { mailbox.end(.disconnected) }
        defer { withExtendedLifetime(registrations) {} }
        return try body(
            VerificationSession(service: service, mailbox: mailbox, deadline: deadline, cancellation: cancellation))
    }

    /// The bus states the user of fprintd, so the bus itself must be trusted first.
    private func connect(onEnd: @escaping @Sendable () -> Void = {}) throws(FingerprintError) -> BusConnection {
        let (bus, user) = try withErrors(as: FingerprintError.init) { () throws(BusError) in
            let bus = try BusConnection(to: address, limits: Self.limits, timeout: timeout, onEnd: onEnd)
            return (bus, try bus.listeningUser())
        }
        guard user == trustedUser else { throw .untrustedBus(user: user) }
        return bus
    }

    private func service(on bus: BusConnection) throws(FingerprintError) -> FingerprintService {
        try FingerprintService(bus, trustedUser: trustedUser, timeout: timeout)
    }

    /// The largest answers are the names of ten fingers.
    private static let limits: BusLimits = {
        var limits = BusLimits()
        limits.maxBytes = 64 << 10
        limits.maxValues = 1_024
        limits.maxDepth = 4
        limits.maxDescriptors = 0
        limits.maxQueuedEvents = 1_024
        limits.maxQueuedBytes = 1 << 20
        return limits
    }()
}
