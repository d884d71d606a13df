// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The presence pairs of a keybag. A keychain with a passcode has one pair of the passcode and one
/// of biometry, of the same generation, and one for each enrolled security key.
extension KeybagRecord {
    /// The newest generation of the pairs of the passcode and of biometry; nil without pairs.
    var presenceGeneration: UInt32? {
        pairs.filter { !$0.identity.kind.isSecurityKey }.map(\.identity.generation).max()
    }

    /// The pairs that new shares are sealed to.
    var currentPairs: [PresencePair] {
        pairs.filter { $0.identity.kind.isSecurityKey || $0.identity.generation == presenceGeneration }
    }

    /// Whether there are pairs of an earlier generation with shares that must be sealed again.
    var hasEarlierPairs: Bool { currentPairs.count != pairs.count }

    mutating func dropEarlierPairs() { pairs = currentPairs }

    /// Removes the pairs that need a passcode.
    mutating func dropPasscodePairs() { pairs.removeAll { !$0.identity.kind.isSecurityKey } }

    /// Adds new pairs of the passcode and of biometry.
    mutating func addPairs(generation: UInt32, under kek: borrowing KeyEncryptionKey) throws(KeybagError) {
        for kind in [PresenceIdentity.Kind.passcode, .biometry] {
            let identity = PresenceIdentity(kind: kind, generation: generation)
            pairs.append(try .generate(identity, under: kek, of: keychain))
        }
        // Only a keybag with the maximum number of security keys has more than this.
        guard pairs.count <= PresencePair.maxCount else { throw .damaged("it has too many presence pairs") }
    }

    /// Wraps every private key that the passcode opens under the key of another passcode; pairs of
    /// security keys keep their wrapping.
    mutating func rewrapPairs(_ opened: [PresencePrivateKey], under kek: borrowing KeyEncryptionKey)
        throws(KeybagError)
    {
        for index in pairs.indices where pairs[index].wrapped.contains(where: { $0.wrapping == .user }) {
            let identity = pairs[index].identity
            guard let key = opened.first(where: { $0.identity == identity }) else {
                throw .damaged("a presence key that the passcode must open is missing")
            }
            try pairs[index].wrap(key, under: kek, of: keychain)
        }
    }

    /// Removes one wrapping of every pair, such as that of a recovery key.
    mutating func removeWrapping(_ wrapping: KeyWrapping) {
        for index in pairs.indices { pairs[index].wrapped.removeAll { $0.wrapping == wrapping } }
    }

    /// Returns the private keys that `kek` opens.
    ///
    /// - Parameter kind: opens only pairs of this kind; nil for all.
    /// - Throws: ``KeybagError/wrongKey``.
    func privateKeys(under kek: borrowing KeyEncryptionKey, _ kind: PresenceIdentity.Kind? = nil) throws(KeybagError)
        -> [PresencePrivateKey]
    {
        var keys: [PresencePrivateKey] = []
        for pair in pairs where kind == nil || pair.identity.kind == kind {
            if let key = try pair.privateKey(under: kek, of: keychain) { keys.append(key) }
        }
        return keys
    }
}
