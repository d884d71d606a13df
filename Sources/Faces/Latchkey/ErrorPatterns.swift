// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

// Functions of this module, because a program with `import Latchkey` alone does not find operators
// among the members of a type from another module: its patterns would compare whole errors.

/// Matches the status only: `catch KeychainError.itemNotFound`.
public func ~= (pattern: KeychainError, error: any Error) -> Bool {
    (error as? KeychainError)?.status == pattern.status
}

/// The same for an error of known type, as after a typed throw.
public func ~= (pattern: KeychainError, error: KeychainError) -> Bool {
    error.status == pattern.status
}
