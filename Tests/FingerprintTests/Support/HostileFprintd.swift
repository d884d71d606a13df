// SPDX-License-Identifier: Apache-2.0

import Fingerprint
import KeychainTesting
import SystemBus

/// A fprintd of the tests' own. It answers as a test says.
final class HostileFprintd: Sendable {
    let bus: PrivateBus
    let connection: BusConnection
    /// The methods that were called, in their order.
    let calls: Collected<String>
    private let registrations: [BusRegistration]

    var reader: FingerprintReader { FingerprintReader(on: bus) }

    /// A verifier without latchkey-biometry-digest.
    func verifier(_ lockout: BiometryLockout = BiometryLockout()) -> FingerprintVerifier {
        FingerprintVerifier(on: bus, lockout: lockout)
    }

    /// - Parameter answer: answers a call of a method; nil if it does not want to, and the call is
    ///   answered as fprintd does.
    init(_ answer: @escaping @Sendable (BusMethodCall, BusConnection) -> Bool) throws {
        bus = try PrivateBus()
        let connection = try BusConnection(to: .custom(bus.address))
        let calls = Collected<String>()
        let export = try connection.export(at: "/net/reactivated/Fprint") { [weak connection] call in
            calls.append(call.member)
            guard let connection, !answer(call, connection) else { return }
            switch call.member {
            case "GetDefaultDevice": call.answer([.objectPath(Self.device)])
            case "ListEnrolledFingers": call.answer([["right-index-finger"].busValue])
            default: call.answer()
            }
        }
        registrations = [export, try connection.own("net.reactivated.Fprint")]
        (self.connection, self.calls) = (connection, calls)
    }

    static let device: ObjectPath = "/net/reactivated/Fprint/Device/0"

    /// Sends a status of a verification.
    static func emit(
        _ status: String, isDone: Bool, from connection: BusConnection, to destination: BusName? = nil
    ) {
        emit([.string(status), .boolean(isDone)], from: connection, to: destination)
    }

    static func emit(_ content: [BusValue], from connection: BusConnection, to destination: BusName? = nil) {
        try? connection.emit(from: device, "net.reactivated.Fprint.Device", "VerifyStatus", content, to: destination)
    }
}
