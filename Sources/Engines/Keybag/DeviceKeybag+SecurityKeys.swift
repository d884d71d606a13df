// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import SecretMemory

/// The security keys of a keychain. Each has a presence pair; only the secret that the device derives after a touch
/// opens its private key.
extension DeviceKeybag {
    /// The enrolled security keys, in the order of their enrollment.
    public var securityKeys: [EnrolledSecurityKey] {
        record.pairs.compactMap { pair in
            pair.enrollment.map {
                EnrolledSecurityKey(
                    enrollment: $0, satisfiesUserPresence: pair.identity.kind == .presentSecurityKey)
            }
        }
    }

    /// Adds a security key. Shares of existing rows must be sealed to its pair.
    ///
    /// - Parameters:
    ///   - secret: the secret that the device derives for the credential: 32 bytes.
    ///   - satisfiesUserPresence: whether it also satisfies `userPresence`.
    /// - Throws: ``KeybagError/securityKeyExists``, ``KeybagError/tooManySecurityKeys(max:)``,
    ///   ``KeybagError/unusableSecurityKey(_:)``.
    package func enrolling(
        _ enrollment: SecurityKeyEnrollment, secret: SharedSecret, satisfiesUserPresence: Bool, _ passcode: PasscodeKey
    ) throws(KeybagError) -> StoredKeybag {
        guard !record.pairs.contains(where: { $0.enrollment?.identifier == enrollment.identifier }) else {
            throw .securityKeyExists
        }
        guard securityKeys.count < SecurityKeyInfo.maxCount else {
            throw .tooManySecurityKeys(max: SecurityKeyInfo.maxCount)
        }
        guard secret.count == KeyEncryptionKey.securityKeySecretCount else {
            throw .unusableSecurityKey(
                "its secret has \(secret.count) bytes, expected \(KeyEncryptionKey.securityKeySecretCount)")
        }
        var changed = try record.successor()
        // The generation of the keybag is never used again, so that the pair has another identity
        // when the key was removed and is enrolled once more.
        guard let generation = UInt32(exactly: changed.generation) else {
            throw .damaged("the key generations are exhausted")
        }
        let identity = PresenceIdentity(
            kind: satisfiesUserPresence ? .presentSecurityKey : .securityKey, generation: generation,
            credential: enrollment.identifier.bytes)
        let kek = KeyEncryptionKey(device: deviceKey, securityKey: secret)
        var pair = try PresencePair.generate(identity, under: kek, of: record.keychain)
        pair.enrollment = enrollment
        changed.pairs.append(pair)
        changed.hasOutdatedShares = true
        return sealed(changed, KeyEncryptionKey(device: deviceKey, passcode: passcode))
    }

    /// Removes a security key. Its shares remain in the rows until they are sealed again.
    ///
    /// - Throws: ``KeybagError/wrongSecurityKey`` if it is not enrolled.
    package func removingSecurityKey(_ key: SecurityKeyIdentifier, _ passcode: PasscodeKey?) throws(KeybagError)
        -> StoredKeybag
    {
        var changed = try record.successor()
        changed.pairs.removeAll { $0.enrollment?.identifier == key }
        guard changed.pairs.count < record.pairs.count else { throw .wrongSecurityKey }
        guard let passcode else { return sealed(changed, nil) }
        changed.hasOutdatedShares = true
        return sealed(changed, KeyEncryptionKey(device: deviceKey, passcode: passcode))
    }

    /// Whether only this security key, of all pairs, satisfies the constraint of a row.
    package func isRequired(_ key: SecurityKeyIdentifier, by constraint: ConstraintRecord) -> Bool {
        var changed = record
        changed.pairs.removeAll { $0.enrollment?.identifier == key }
        return canSatisfy(constraint) && !PresenceRecipients(changed).canSatisfy(constraint)
    }

    /// Opens the private key of a security key.
    ///
    /// - Throws: ``KeybagError/wrongSecurityKey`` if it is not enrolled, or if the secret is
    ///   another one.
    func presenceKey(of key: SecurityKeyIdentifier, _ secret: SharedSecret) throws(KeybagError) -> PresencePrivateKey {
        guard secret.count == KeyEncryptionKey.securityKeySecretCount,
            let pair = record.pairs.first(where: { $0.enrollment?.identifier == key })
        else { throw .wrongSecurityKey }
        do throws(KeybagError) {
            let kek = KeyEncryptionKey(device: deviceKey, securityKey: secret)
            guard let opened = try pair.privateKey(under: kek, of: record.keychain) else { throw .wrongSecurityKey }
            return opened
        } catch {
            if case .wrongKey = error { throw .wrongSecurityKey }
            throw error
        }
    }
}
