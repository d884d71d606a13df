// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// Why a call of a Secret Service failed. Texts of the service are printable, and short.
public enum SecretServiceClientError: Error, Hashable, Sendable {
    /// The bus cannot be reached, or cannot be used.
    case bus(String)
    /// Nothing on the bus has the name, and nothing could be started.
    case absent
    /// The service of the bus is Latchkey's own.
    case ownService
    /// The service has no session with encryption.
    case notEncrypted
    /// The service has ended.
    case ended
    /// The service does not answer.
    case noAnswer(method: String)
    /// The collection or the item is locked.
    case locked
    /// The object does not exist, or does not exist any more.
    case missing
    /// An answer has other content than the specification requires.
    case malformed(String)
    /// An answer exceeds a limit of ``ClientLimits``.
    case limitExceeded(String)
    /// The service has refused the call.
    case refused(String)

    /// Whether further calls would fail as well.
    public var endsSession: Bool {
        switch self {
        case .bus, .absent, .ownService, .notEncrypted, .ended, .noAnswer: true
        case .locked, .missing, .malformed, .limitExceeded, .refused: false
        }
    }
}

// MARK: CustomStringConvertible

extension SecretServiceClientError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .bus(let problem): problem
        case .absent: "no program on the bus is a Secret Service"
        case .ownService: "the Secret Service of the bus is latchkey-secret-service itself"
        case .notEncrypted: "the Secret Service has no session with encryption"
        case .ended: "the Secret Service has ended"
        case .noAnswer(let method): "the Secret Service does not answer \(method)"
        case .locked: "it is locked"
        case .missing: "it does not exist any more"
        case .malformed(let problem): problem
        case .limitExceeded(let limit): "an answer has more than \(limit)"
        case .refused(let problem): problem
        }
    }
}

// MARK: Errors of the bus

extension SecretServiceClientError {
    init(_ error: BusError) {
        switch error {
        case .remote(let failure): self.init(failure)
        case .timeout(let method): self = .noAnswer(method: method)
        case .disconnected: self = .ended
        case .unexpected, .invalid: self = .malformed(error.description)
        case .limitExceeded(let limit): self = .limitExceeded(limit)
        case .cannotConnect, .libraryMissing, .nameTaken, .system: self = .bus(error.description)
        }
    }

    /// The names of the errors are those of the specification, of the bus, and of other services.
    init(_ failure: BusFailure) {
        switch failure.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
            self = .ended
        case "org.freedesktop.Secret.Error.IsLocked": self = .locked
        case "org.freedesktop.Secret.Error.NoSuchObject", "org.freedesktop.DBus.Error.UnknownMethod",
            "org.freedesktop.DBus.Error.UnknownObject":
            self = .missing
        default: self = .refused(failure.description)
        }
    }
}
