// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

extension EnrolledSet {
    /// The set with these names of fingers, in any order.
    ///
    /// The digest is SHA-256 of the encoding of a domain and of the sorted names. It differs from
    /// that of any stored prints.
    public init(fingerNames: some Sequence<String>) throws(EnrolledSetError) {
        var encoding = SetEncoding(domain: "latchkey finger names 1")
        for name in fingerNames.map({ Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            encoding.append(name)
        }
        self = try encoding.enrolledSet(.fingerNames)
    }
}
