// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// A keychain that a command works on.
struct CommandKeychain {
    /// nil for a keychain of the system.
    let name: KeychainName?
    /// Whether it stands for the certificates that the administrator trusts.
    let isAdministrators: Bool
    let session: KeychainSession
    private let knownPath: String?

    /// - Parameter path: the printed path of the keychain; nil to ask the keychain.
    init(_ name: KeychainName, path: String?, _ session: KeychainSession) {
        (self.name, isAdministrators, knownPath, self.session) = (name, false, path, session)
    }

    /// Creates a keychain of the system: certificates that cannot be changed here.
    init(
        system path: String, isAdministrators: Bool, _ certificates: [Certificate]
    ) throws(CommandFailure) {
        (name, self.isAdministrators, knownPath) = (nil, isAdministrators, path)
        session = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let session = KeychainSession(try EmbeddedService(inMemory: .system), as: KeychainClient.caller)
            for certificate in certificates {
                do throws(KeychainError) {
                    _ = try session.add(CertificateItems.addition(certificate, accessGroup: nil))
                } catch {
                    // Two certificates with one issuer and one serial number: the first one counts.
                    guard error.status == .duplicateItem else { throw error }
                }
            }
            return session
        }
    }

    /// The path, as commands print it.
    func path() throws(CommandFailure) -> String {
        if let knownPath { return knownPath }
        return try KeychainPath.of(session)
    }

    /// Whether items with a protection that the lock closes cannot be read.
    var isLocked: Bool { (try? session.settledLockStatus()).map { $0.state != .unlocked } ?? false }

    /// Refuses a keychain of the system.
    ///
    /// - Throws: errSecReadOnly.
    func requireChangeable() throws(CommandFailure) {
        guard name == nil else { return }
        throw .status(
            KeychainError(
                .readOnly, "\(try path()) stands for certificates of the system, and these are not changed here",
                hint: "sudo security add-trusted-cert -d FILE; update-ca-certificates"))
    }
}

extension [CommandKeychain] {
    /// Returns the answer of the first keychain that has one. A keychain that is locked or cannot be
    /// opened is passed over.
    ///
    /// - Throws: if none has an answer: the first reason why one could not, or the last error.
    func first<Value>(
        _ body: (KeychainSession) throws(CommandFailure) -> Value
    ) throws(CommandFailure) -> (value: Value, keychain: CommandKeychain) {
        var locked: CommandFailure?
        var missing: CommandFailure?
        for keychain in self {
            do throws(CommandFailure) {
                return (try body(keychain.session), keychain)
            } catch {
                guard case .status(let reason, _) = error else { throw error }
                if reason.status == .itemNotFound {
                    missing = error
                } else {
                    guard error.reasonToPassOver != nil else { throw error }
                    locked = locked ?? error
                }
            }
        }
        throw locked ?? missing ?? .status(.itemNotFound, of: PasswordSearch.function)
    }

    /// Returns the results of all keychains, each with its keychain. One that is locked is left out,
    /// with a note, unless it is the only one.
    func all<Value>(
        in session: CommandSession, _ body: (KeychainSession) throws(CommandFailure) -> [Value]
    ) throws(CommandFailure) -> [(value: Value, keychain: CommandKeychain)] {
        var found: [(value: Value, keychain: CommandKeychain)] = []
        try forEach(in: session) { (keychain) throws(CommandFailure) in
            found += try body(keychain.session).map { ($0, keychain) }
        }
        return found
    }

    /// Calls `body` with each keychain. One that is locked or cannot be opened is left out, with a note,
    /// unless it is the only one.
    func forEach(
        in session: CommandSession, _ body: (CommandKeychain) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        for keychain in self {
            do throws(CommandFailure) {
                try body(keychain)
            } catch {
                guard count > 1, let reason = error.reasonToPassOver else { throw error }
                let path = try keychain.path()
                if reason.status == .interactionNotAllowed {
                    session.warn("\(path) is locked; its items are not shown", hint: "security unlock-keychain")
                } else {
                    session.warn("\(path) is passed over: \(reason.problem)", hint: reason.hint.map { "\($0)" })
                }
            }
        }
    }
}

extension CommandFailure {
    /// The error, if another keychain may answer in the place of the one with it.
    var reasonToPassOver: KeychainError? {
        guard case .status(let error, _) = self, error.letsOthersAnswer else { return nil }
        return error
    }
}
