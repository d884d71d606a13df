// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// A password that an application asks for. It takes part in the keys of the items that require it
/// (`kSecAccessControlApplicationPassword`).
///
/// A key is derived once for each salt, only by ``PendingDerivation/run()``, and is wiped with the
/// object.
public final class ApplicationPassword: Sendable {
    private struct State {
        var sealingKey: SharedSecret?
        /// The keys for the salts of rows, the oldest first.
        var rowKeys: [(parameters: PasscodeParameters, key: SharedSecret)] = []
    }

    private let password: Passcode
    /// The parameters of the items that are stored with this object. Their salt is this object's
    /// own, and never one that a row has chosen. The keys of the items differ, because the item is
    /// part of a later derivation.
    let sealingParameters: PasscodeParameters
    private let state = SystemMutex(State())
    private let willDerive: @Sendable () -> Void

    /// - Parameter cost: the cost of scrypt for items that are stored with it.
    /// - Throws: ``KeybagError/unusablePasscode(_:)`` if it is empty, too long or not UTF-8.
    public convenience init(_ password: SharedSecret, cost: PasscodeCost = .floor) throws(KeybagError) {
        try self.init(password, cost: cost, willDerive: {})
    }

    /// - Parameter willDerive: called before each derivation, on its thread.
    init(_ password: SharedSecret, cost: PasscodeCost, willDerive: @escaping @Sendable () -> Void) throws(KeybagError) {
        self.password = try Passcode(password)
        self.willDerive = willDerive
        sealingParameters = .fresh(cost)
    }

    /// Returns the key for the parameters, 32 bytes; nil if it is not derived yet.
    func key(_ parameters: PasscodeParameters) -> SharedSecret? {
        state.withLock { state in
            if parameters == sealingParameters { return state.sealingKey }
            return state.rowKeys.first { $0.parameters == parameters }?.key
        }
    }

    /// The derivation required before an item can be stored; nil if it is done.
    package var pendingSealing: PendingDerivation? {
        key(sealingParameters) == nil ? PendingDerivation(self, sealingParameters) : nil
    }

    fileprivate func derive(_ parameters: PasscodeParameters) throws(KeybagError) {
        // Another thread may have derived it in the meantime.
        guard key(parameters) == nil else { return }
        willDerive()
        let key = SharedSecret(try PasscodeKey.derive(password, parameters).secret.copy())
        state.withLock { state in
            guard parameters != sealingParameters else { return state.sealingKey = key }
            if state.rowKeys.count >= Self.maxRowKeys { state.rowKeys.removeFirst() }
            state.rowKeys.append((parameters, key))
        }
    }

    private static let maxRowKeys = 64
}

/// A key that must be derived from an application password before an item can be opened or stored.
public struct PendingDerivation: Sendable, Equatable {
    private let password: ApplicationPassword
    private let parameters: PasscodeParameters

    init(_ password: ApplicationPassword, _ parameters: PasscodeParameters) {
        (self.password, self.parameters) = (password, parameters)
    }

    /// Derives the key, and keeps it in the password. scrypt takes time and memory by design: hold no lock and no
    /// database meanwhile.
    ///
    /// - Throws: ``KeybagError/noMemory(_:)``, or ``KeybagError/damaged(_:)`` for a cost that is
    ///   not accepted.
    package func run() throws(KeybagError) { try password.derive(parameters) }

    public static func == (one: PendingDerivation, other: PendingDerivation) -> Bool {
        one.password === other.password && one.parameters == other.parameters
    }
}

/// The binding of an item with constraints when it is stored, besides the keys of the keychain.
public struct ConstraintBinding: Sendable {
    /// The current set; `biometryCurrentSet` requires it.
    public var enrolledSet: EnrolledSet?
    /// `applicationPassword` requires it.
    public var applicationPassword: ApplicationPassword?

    public init(enrolledSet: EnrolledSet? = nil, applicationPassword: ApplicationPassword? = nil) {
        self.enrolledSet = enrolledSet
        self.applicationPassword = applicationPassword
    }
}
