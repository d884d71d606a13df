// SPDX-License-Identifier: Apache-2.0

internal import EnrolledPrints
internal import Glibc
internal import LinuxSystem
internal import SystemBus

/// The default fingerprint reader (net.reactivated.Fprint.Manager and .Device of fprintd), at the
/// connection that owned fprintd's name when the reader was found.
///
/// Calls go to that unique name, and only signals from it count. A later owner of the name cannot continue the exchange
/// of the first one.
struct FingerprintService: Sendable {
    private let bus: BusConnection
    private let service: BusName
    private let device: ObjectPath
    private let timeout: Duration

    /// Finds the default reader. The bus starts fprintd if it does not run.
    ///
    /// - Parameters:
    ///   - trustedUser: the expected user of fprintd.
    ///   - timeout: of each call.
    init(_ bus: BusConnection, trustedUser: UInt32, timeout: Duration) throws(FingerprintError) {
        self.bus = bus
        self.timeout = timeout
        let found = try withErrors(as: FingerprintError.init) { () throws(BusError) in
            let method = BusMethod(
                Self.name, "/net/reactivated/Fprint/Manager", "net.reactivated.Fprint.Manager", "GetDefaultDevice")
            var response = try bus.call(method, returning: [.objectPath], timeout: timeout)
            guard let owner = try bus.owner(of: Self.name) else { throw .disconnected }
            return (device: try response.next(ObjectPath.self), owner: owner, user: try bus.peer(owner).user)
        }
        guard found.user == trustedUser else { throw .untrustedService(user: found.user) }
        (device, service) = (found.device, found.owner)
    }

    /// Takes the reader for the verification of one user's fingers.
    func claim(for user: UInt32) throws(FingerprintError) {
        try call("Claim", [.string(try Self.name(of: user))])
    }

    func release() throws(FingerprintError) { try call("Release", timeout: Self.endTimeout) }

    /// Starts to compare with every enrolled finger of the user.
    func startVerification() throws(FingerprintError) { try call("VerifyStart", [.string("any")]) }

    func stopVerification() throws(FingerprintError) { try call("VerifyStop", timeout: Self.endTimeout) }

    /// Returns the names of the enrolled fingers, such as `right-index-finger`, in the order of
    /// fprintd; never empty.
    func enrolledFingers(of user: UInt32) throws(FingerprintError) -> [String] {
        let name = try Self.name(of: user)
        let fingers = try withErrors(as: FingerprintError.init) { () throws(BusError) in
            var response = try bus.call(
                method("ListEnrolledFingers"), [.string(name)], returning: [.array(.string)], timeout: timeout)
            return try response.next([String].self)
        }
        guard !fingers.isEmpty else { throw .notEnrolled }
        return fingers
    }

    /// Calls `handler` with each status of a verification and whether it is the last one, and
    /// `onEnd` when fprintd has ended.
    func observe(
        _ handler: @escaping @Sendable (String, Bool) -> Void, onEnd: @escaping @Sendable () -> Void
    ) throws(FingerprintError) -> [BusRegistration] {
        let rule = SignalRule(
            from: service, Self.interface, "VerifyStatus", path: .object(device), types: [.string, .boolean])
        return try withErrors(as: FingerprintError.init) { () throws(BusError) in
            let statuses = try bus.subscribe(to: rule, timeout: timeout) { signal in
                var fields = signal.content
                guard let status = try? fields.next(String.self), let isDone = try? fields.next(Bool.self) else {
                    return
                }
                handler(status, isDone)
            }
            let owner = try bus.observeOwner(of: service) { if $0 == nil { onEnd() } }
            return [statuses, owner]
        }
    }

    // MARK: Calls

    private func call(
        _ member: String, _ arguments: [BusValue] = [], timeout: Duration? = nil
    ) throws(FingerprintError) {
        _ = try withErrors(as: FingerprintError.init) { () throws(BusError) in
            try bus.call(method(member), arguments, timeout: min(timeout ?? self.timeout, self.timeout))
        }
    }

    private func method(_ member: String) -> BusMethod { BusMethod(service, device, Self.interface, member) }

    /// The name of the user in a call. The empty name means the caller itself; fprintd then does not require the
    /// permission to name users.
    private static func name(of user: UInt32) throws(FingerprintError) -> String {
        guard user != geteuid() else { return "" }
        guard let name = UserAccount.name(of: user) else { throw .unknownUser(user) }
        return name
    }

    private static let name: BusName = "net.reactivated.Fprint"
    /// The timeout of calls that precede the close of the connection. The close ends the same operations.
    private static let endTimeout = Duration.seconds(2)
    private static let interface = "net.reactivated.Fprint.Device"
}
