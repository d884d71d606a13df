// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension NSDictionary {
    /// The keys and values as Swift values.
    ///
    /// They are read with one call. A loop over the dictionary itself hashes and finds each key a second time, and that
    /// costs as much as the rest of the parsing.
    var entries: Zip2Sequence<[Any], [Any]> {
        var (keys, values): ([Any], [Any]) = ([], [])
        let count = count
        keys.reserveCapacity(count)
        values.reserveCapacity(count)
        getObjects(&values, andKeys: &keys, count: count)
        return zip(keys, values)
    }
}
