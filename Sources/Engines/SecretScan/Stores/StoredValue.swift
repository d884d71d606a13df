// SPDX-License-Identifier: Apache-2.0

/// A value of a store with names: a field of a property list, a column of a row.
struct StoredValue {
    /// The name of the value.
    let name: String
    /// Where the value is in its document.
    let path: String
    let value: [UInt8]
}

/// A document that consists of named values. Documents are untrusted.
protocol RecordStore {
    /// Calls `body` with each value.
    ///
    /// - Parameter limit: the maximum number of bytes of all values.
    func forEach(limit: Int, _ body: (StoredValue) -> Void) throws(RecordError)
}

/// Why a store, or the rest of it, could not be read.
struct RecordError: Error {
    let reason: String
}
