// SPDX-License-Identifier: Apache-2.0

/// Why a signature cannot be valid, although it was decoded.
struct SignerDefect: Error, Hashable, CustomStringConvertible {
    /// What was expected and what was found.
    let description: String

    init(_ description: String) { self.description = description }
}
