// SPDX-License-Identifier: Apache-2.0

/// Why a signature cannot be valid, although it was decoded.
struct SignerDefect: Error, Hashable, CustomStringConvertible {
    /// The defect, with the expected and the found value.
    let description: String

    init(_ description: String) { self.description = description }
}
