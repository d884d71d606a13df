// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

public enum BoxError: Error, Equatable {
    case itemNotFound
    case emptyKey
    case emptyValue
    case notText
    /// A query of a migration without a class, or with a key that the migration sets.
    case invalidQuery
    /// A migration found a key twice, or a key that the box has already.
    case duplicateKey(String)
    case keychain(OSStatus)
}
