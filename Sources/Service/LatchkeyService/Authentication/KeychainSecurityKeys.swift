// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The operations on the security keys of a keychain. Adding or removing one changes how items open,
/// so that both require the passcode.
public protocol KeychainSecurityKeys: Sendable {
    /// Enrolls the connected security key that is not enrolled yet: the person is asked for its PIN,
    /// if it has one, and touches it twice.
    ///
    /// If a security key that is enrolled already is connected as well, the person touches it first:
    /// items that only it opens are then sealed to the new one.
    ///
    /// - Parameter passcode: is checked first, before the person is asked.
    /// - Throws: errSecDuplicateItem if the device, or a device of this name, is enrolled;
    ///   errSecParam for a name that is not valid, if `SecurityKeyInfo.maxCount` keys are
    ///   enrolled, or if several new devices are connected; an error with an
    ///   ``AuthenticationFailure`` if no device is connected, or if the person does not touch it.
    func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt,
        from caller: CallerIdentity
    ) throws(KeychainError) -> SecurityKeyInfo

    /// Returns the enrolled security keys, in the order of their enrollment. They need not be
    /// connected.
    func securityKeys() throws(KeychainError) -> [SecurityKeyInfo]

    /// Removes a security key. The device need not be connected.
    ///
    /// - Parameters:
    ///   - passcode: required if one is set.
    ///   - deletesItems: also deletes the items that only this key opens. If false, and there are
    ///     any, nothing changes.
    ///   - dryRun: only counts these items.
    /// - Returns: how many items were, or would be, deleted.
    /// - Throws: errSecParam if `deletesItems` is false and there are such items;
    ///   errSecItemNotFound if no such key is enrolled.
    func removeSecurityKey(
        _ key: SecurityKeyIdentifier, passcode: SharedSecret?, deletesItems: Bool, dryRun: Bool
    ) throws(KeychainError) -> Int
}

/// What the user says about a security key at its enrollment.
public struct SecurityKeyRequest: Hashable, Sendable {
    /// 1 to 128 bytes of UTF-8 without control characters; no other enrolled key has it.
    public var name: String
    /// Whether the key also satisfies `userPresence`, and not only `latchkeySecurityKey`.
    public var satisfiesUserPresence: Bool

    public init(name: String, satisfiesUserPresence: Bool = false) {
        self.name = name
        self.satisfiesUserPresence = satisfiesUserPresence
    }
}
