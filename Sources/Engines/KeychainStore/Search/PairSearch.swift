// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The pairs that a call selects: a certificate, and a key with an application label equal to the certificate's public
/// key hash.
public struct PairSearch: Sendable {
    public var certificates: ItemSearch
    public var keys: ItemSearch
    /// Whether the result has the certificates' data. A pair with damaged certificate data is then skipped.
    public var needsCertificateData = false
    public var keyData = KeyData.none

    /// How the data of the keys is read.
    public enum KeyData: Sendable {
        /// The result has no data of keys.
        case none
        /// A key with damaged or locked data has no data in the result.
        case ifReadable
        /// A pair is skipped if the data of its key is damaged.
        case required
    }

    public init(certificates: ItemSearch, keys: ItemSearch) {
        self.certificates = certificates
        self.keys = keys
        // The condition follows from the join. With it, the index selects the certificates, too.
        if let label = keys.attributes[.applicationLabel], !keys.match.ignoresCase {
            self.certificates.attributes[.publicKeyHash] = certificates.attributes[.publicKeyHash] ?? label
        }
    }

    /// The search for the keys with this label, by the index.
    ///
    /// Its matches must also satisfy ``keys``: a comparison that ignores case cannot use an index.
    func keys(labelled label: [UInt8]) -> ItemSearch {
        var search = keys
        if search.match.ignoresCase {
            search.attributes = [:]
            search.match.ignoresCase = false
        }
        search.attributes[.applicationLabel] = .data(label)
        return search
    }
}

/// The result of a search for pairs.
public struct PairSearchResult: Sendable {
    /// In the order in which the certificates were added, and for each certificate in the order of its keys.
    public var pairs: [ItemPair] = []
    /// Matching certificates and keys with a changed enrolled set. They are in no pair, open never again, and should be
    /// deleted.
    public var lost: [ItemIdentifier] = []
    /// Matching certificates and keys that the application password did not open. Their pairs have no data of them.
    public var wrongPasswords: [ItemIdentifier] = []
}

/// A certificate and a key that belongs to it.
public struct ItemPair: Sendable {
    public let certificate: ItemRecord
    public let key: ItemRecord

    /// The memory of a pair in a result, in bytes, without the contents that it shares with other
    /// pairs: the result is copied once.
    static let size = 2 * MemoryLayout<ItemPair>.stride
}

/// The items of some pairs, each once.
public struct PairedItems: Sendable {
    /// In the order of addition.
    public internal(set) var certificates: [ItemRecord] = []
    public internal(set) var keys: [ItemRecord] = []
    public internal(set) var pairCount = 0
}
