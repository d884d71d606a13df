// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SystemBus

/// The errors of the Secret Service, with the names that gnome-keyring uses: clients compare them.
extension BusFailure {
    static let isLocked = BusFailure(
        "org.freedesktop.Secret.Error.IsLocked", "Cannot use the secrets of a locked collection")
    static let needsConsent = BusFailure(
        "org.freedesktop.Secret.Error.IsLocked",
        "Unlock asks the person before this program reads the item")
    static let noSession = BusFailure("org.freedesktop.Secret.Error.NoSession", "The session does not exist")
    static let alreadyPrompting = BusFailure.accessDenied("The prompt is shown already")
    static let notTheOwner = BusFailure.accessDenied("The object belongs to another program")

    static func noSuchObject(_ path: ObjectPath) -> BusFailure {
        BusFailure("org.freedesktop.Secret.Error.NoSuchObject", "The object \(path) does not exist")
    }

    /// The answer to a call of an object that does not exist.
    static func missingObject(_ path: ObjectPath) -> BusFailure {
        .unknownMethod("Object does not exist at path “\(path)”")
    }

    /// A wrong passcode in a call of gnome-keyring's interface.
    static func denied(_ message: String) -> BusFailure { BusFailure("org.gnome.keyring.Error.Denied", message) }

    /// - Parameter path: the object of the call.
    init(_ error: SecretStoreError, _ path: ObjectPath) {
        switch error {
        case .notFound: self = .missingObject(path)
        case .locked: self = .isLocked
        case .wrongPasscode(let problem): self = .denied(problem)
        case .denied(let problem): self = .accessDenied(problem)
        case .notSupported(let problem): self = .notSupported(problem)
        case .invalid(let problem): self = .invalidArguments(problem)
        case .limitExceeded: self = .limitsExceeded(error.description)
        case .unavailable: self = .failed(error.description)
        }
    }

    /// Calls the store, and converts its errors.
    static func mapErrors<Value>(
        _ path: ObjectPath, _ body: () throws(SecretStoreError) -> Value
    ) throws(BusFailure) -> Value {
        try withErrors(as: { BusFailure($0, path) }, body)
    }
}
