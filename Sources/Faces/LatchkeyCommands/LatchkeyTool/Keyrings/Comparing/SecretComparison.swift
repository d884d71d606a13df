// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// The state of an item of a source, compared with the keychain.
enum ItemState: String, Encodable, CaseIterable {
    /// The keychain has no item with its attributes, or only items that the source has as well.
    case new
    /// The keychain has an item with its attributes and its secret.
    case equal
    /// The keychain has another secret for its attributes.
    case different
    /// It cannot be read or stored.
    case leftOut = "left out"
}

/// Compares secrets of items with the same attributes.
enum SecretComparison {
    /// A secret of the keychain; nil if it needs the person, and is not known.
    typealias PresentSecret = SharedSecret?

    /// Returns the state of each item of the source.
    ///
    /// An import that was interrupted has stored some of several items with the same attributes. The others are still
    /// new, because the keychain's items are from the source. Another secret is a conflict.
    static func states(of secrets: [SharedSecret], among present: [PresentSecret]) -> [ItemState] {
        let known = present.compactMap { $0 }
        let hasOther = known.count < present.count || known.contains { !secrets.contains($0) }
        var added: [SharedSecret] = []
        return secrets.map { secret in
            if known.contains(secret) || added.contains(secret) { return .equal }
            guard !hasOther else { return .different }
            added.append(secret)
            return .new
        }
    }
}
