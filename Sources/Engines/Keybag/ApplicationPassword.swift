// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// A password that an application asks for, which takes part in the keys of the items that require
/// it (`kSecAccessControlApplicationPassword`).
///
/// Its keys are derived once for each salt, and are wiped with the object.
public final class ApplicationPassword: Sendable {
    private let password: Passcode
    private let cost: PasscodeCost
    private let derived = SystemMutex<[(parameters: PasscodeParameters, key: SharedSecret)]>([])

    /// - Parameter cost: the cost of scrypt for items that are stored with it.
    /// - Throws: ``KeybagError/unusablePasscode(_:)`` if it is empty, too long or not UTF-8.
    public init(_ password: SharedSecret, cost: PasscodeCost = .floor) throws(KeybagError) {
        self.password = try Passcode(password)
        self.cost = cost
    }

    /// Returns the key for the parameters: 32 bytes. scrypt takes time and memory by design.
    func key(_ parameters: PasscodeParameters) throws(KeybagError) -> SharedSecret {
        let known = derived.withLock { derived in derived.first { $0.parameters == parameters }?.key }
        if let known { return known }
        let key = SharedSecret(try PasscodeKey.derive(password, parameters).secret.copy())
        derived.withLock { derived in
            if derived.count < Self.maxDerived { derived.append((parameters, key)) }
        }
        return key
    }

    /// Returns a key for an item that is stored, and the parameters from which it can be derived
    /// again. The items that are stored with one object share a salt; their keys differ, because the
    /// item is part of a later derivation.
    func keyForSealing() throws(KeybagError) -> (PasscodeParameters, SharedSecret) {
        let known = derived.withLock { derived in derived.first { $0.parameters.cost == cost } }
        if let known { return known }
        let parameters = PasscodeParameters.fresh(cost)
        return (parameters, try key(parameters))
    }

    private static let maxDerived = 64
}

/// What an item with constraints is bound to when it is stored, besides the keys of the keychain.
public struct ConstraintBinding: Sendable {
    /// What is enrolled now; `biometryCurrentSet` requires it.
    public var enrolledSet: EnrolledSet?
    /// `applicationPassword` requires it.
    public var applicationPassword: ApplicationPassword?

    public init(enrolledSet: EnrolledSet? = nil, applicationPassword: ApplicationPassword? = nil) {
        self.enrolledSet = enrolledSet
        self.applicationPassword = applicationPassword
    }
}
