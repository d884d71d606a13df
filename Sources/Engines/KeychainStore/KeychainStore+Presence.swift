// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
public import SecretMemory

/// How one evaluation satisfies the constraints of items.
///
/// ```swift
/// let keys = store.constraintKeys()
/// try store.satisfy(keys, with: passcode)
/// let found = try store.search(search, limit: 1, withSecrets: true, constraints: keys)
/// ```
extension KeychainStore {
    /// Keeps the key of biometry from the next unlock to the lock; see
    /// ``LockableKeybag/keepBiometryKey()``.
    public func keepBiometryKey() { keybag.keepBiometryKey() }

    /// Whether a biometric match can satisfy a constraint now.
    public var holdsBiometryKey: Bool { keybag.holdsBiometryKey }

    /// Returns empty keys for one evaluation. The next lock wipes their later contents.
    public func constraintKeys() -> ConstraintKeys { keybag.constraintKeys() }

    /// Whether the keychain was not locked since the evaluation of these keys began.
    public func isCurrent(_ keys: ConstraintKeys) -> Bool { keybag.isCurrent(keys) }

    /// Verifies a passcode for one evaluation, as an unlock does: it is counted first, and delayed
    /// after wrong ones. The lock state does not change.
    ///
    /// - Throws: ``KeybagError/constraintNeedsPasscode(_:)`` if no passcode is set.
    public func satisfy(_ keys: ConstraintKeys, with passcode: Passcode) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            guard try refresh().hasPasscode else { throw .keybag(.constraintNeedsPasscode(.devicePasscode)) }
            let key = try KeybagChanges(store: self).verify(passcode)
            do throws(KeybagError) {
                try keybag.satisfy(keys, with: key)
            } catch {
                throw .keybag(error)
            }
        }
    }

    /// Adds the key of biometry of another evaluation; see ``LockableKeybag/copyBiometry(from:to:)``.
    public func copyBiometry(from source: ConstraintKeys, to keys: ConstraintKeys) throws(StoreError) {
        do throws(KeybagError) {
            try keybag.copyBiometry(from: source, to: keys)
        } catch {
            throw .keybag(error)
        }
    }

    /// Satisfies constraints with a biometric match.
    ///
    /// - Parameter match: the proof that the sensor has just recognized the person.
    /// - Throws: ``KeybagError/biometryUnavailable``.
    public func satisfy(_ keys: ConstraintKeys, with match: BiometricMatch) throws(StoreError) {
        do throws(KeybagError) {
            try keybag.satisfy(keys, with: match)
        } catch {
            throw .keybag(error)
        }
    }

    /// Satisfies constraints with a security key that the person has touched.
    ///
    /// - Parameters:
    ///   - secret: the secret that the device has derived for the credential of `key`: 32 bytes.
    /// - Throws: ``KeybagError/wrongSecurityKey`` if the key is not enrolled, or if the secret is
    ///   another one.
    public func satisfy(_ keys: ConstraintKeys, with secret: SharedSecret, of key: SecurityKeyIdentifier)
        throws(StoreError)
    {
        try refresh()
        do throws(KeybagError) {
            try keybag.satisfy(keys, with: secret, of: key)
        } catch {
            throw .keybag(error)
        }
    }
}
