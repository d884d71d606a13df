// SPDX-License-Identifier: Apache-2.0

public import EnrolledPrints
public import Presence
internal import SystemBus

/// Why a fingerprint was not verified.
public enum FingerprintError: Error, Hashable, Sendable {
    /// fprintd cannot be reached; the text says why.
    case noService(String)
    /// The bus was started by a user other than the expected one, root.
    case untrustedBus(user: UInt32)
    /// fprintd runs as a user other than the expected one, root.
    case untrustedService(user: UInt32)
    /// No reader is connected.
    case noReader
    /// No finger of the user is enrolled.
    case notEnrolled
    /// The set of enrolled fingers is unknown.
    case unknownSet(EnrolledSetError)
    /// Too many fingers in sequence were not recognized; the passcode unlocks biometry.
    case lockedOut
    /// None of the fingers that were read is an enrolled one.
    case notRecognized
    /// The cancellation was requested.
    case cancelled
    /// No finger was recognized before the deadline.
    case timedOut
    /// Another program is using the reader.
    case readerInUse
    /// fprintd refused; the text says why.
    case notPermitted(String)
    /// The system has no account of the user.
    case unknownUser(UInt32)
    /// The reader was disconnected, or fprintd has ended.
    case disconnected
    /// The reader or fprintd failed, or sent something unexpected; the text describes it.
    case failed(String)

    /// The same as the result of a question, for a `PromptGate`.
    public var outcome: PresenceOutcome {
        switch self {
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .notRecognized: .denied
        case .notEnrolled: .unavailable(.biometryNotEnrolled)
        case .lockedOut: .unavailable(.biometryLocked)
        default: .unavailable(.noFingerprintReader(reason: description, hint: hint))
        }
    }

    /// The command or action that helps the user.
    public var hint: String {
        switch self {
        case .noService: "apt install fprintd"
        case .untrustedBus: "unset DBUS_SYSTEM_BUS_ADDRESS, and start latchkeyd again"
        case .untrustedService: "systemctl status fprintd"
        case .noReader, .disconnected: "connect a reader that fprintd supports; lsusb lists the connected devices"
        case .notEnrolled: "fprintd-enroll"
        case .unknownSet(let error): error.hint
        case .lockedOut: "latchkey unlock (asks for the passcode)"
        case .notRecognized, .cancelled, .timedOut: "try again, or use the passcode"
        case .readerInUse: "end the other program, or use the passcode"
        case .notPermitted: "pkcheck --action-id net.reactivated.fprint.device.verify --process $$ -u"
        case .unknownUser(let user): "getent passwd \(user)"
        case .failed: "journalctl -u fprintd"
        }
    }
}

// MARK: CustomStringConvertible

extension FingerprintError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noService(let reason): "the fingerprint service fprintd cannot be reached: \(reason)"
        case .untrustedBus(let user): "expected the system bus to be started by root, found user \(user)"
        case .untrustedService(let user): "expected fprintd to run as root, found user \(user)"
        case .noReader: "no fingerprint reader is connected"
        case .notEnrolled: "no finger is enrolled"
        case .unknownSet(let error): error.description
        case .lockedOut: "fingerprints are locked, because too many in sequence were not recognized"
        case .notRecognized: "no enrolled finger was recognized"
        case .cancelled: "the verification was cancelled"
        case .timedOut: "no finger was recognized in time"
        case .readerInUse: "another program is using the fingerprint reader"
        case .notPermitted(let reason): "fprintd does not permit the verification: \(reason)"
        case .unknownUser(let user): "user \(user) does not exist"
        case .disconnected: "the fingerprint reader was disconnected"
        case .failed(let reason): "the fingerprint reader failed: \(reason)"
        }
    }
}

// MARK: Errors of the bus

extension FingerprintError {
    /// The meaning of an error of the bus or of fprintd.
    init(_ error: BusError) {
        switch error {
        case .cannotConnect, .libraryMissing: self = .noService(error.description)
        case .disconnected: self = .disconnected
        case .remote(let failure): self.init(failure)
        default: self = .failed(error.description)
        }
    }

    private init(_ failure: BusFailure) {
        let text = failure.description
        switch failure.name {
        case "net.reactivated.Fprint.Error.NoSuchDevice": self = .noReader
        case "net.reactivated.Fprint.Error.NoEnrolledPrints": self = .notEnrolled
        case "net.reactivated.Fprint.Error.AlreadyInUse": self = .readerInUse
        case "net.reactivated.Fprint.Error.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied":
            self = .notPermitted(text)
        // The object of a device ends with the device.
        case "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownMethod",
            "org.freedesktop.DBus.Error.NoReply":
            self = .disconnected
        case let name where Self.isMissing(name): self = .noService(text)
        default: self = .failed(text)
        }
    }

    /// Whether the bus knows no program of this name, or cannot start it.
    private static func isMissing(_ name: String) -> Bool {
        name == "org.freedesktop.DBus.Error.ServiceUnknown" || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
            || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || name.hasPrefix("org.freedesktop.systemd1.")
    }
}
