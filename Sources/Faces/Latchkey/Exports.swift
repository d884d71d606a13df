// SPDX-License-Identifier: Apache-2.0

// The types that the declarations of this module use, and the types that their members use. A
// program with `import Latchkey` can name each of them. ExportsTests compares the list with the
// declarations. Types of Foundation and of swift-crypto need their own imports.

// Errors, and the findings of the health check.
@_exported public import struct KeychainModel.KeychainError
@_exported public import struct KeychainModel.KeychainFinding
@_exported public import enum KeychainModel.AuthenticationFailure
@_exported public import struct KeychainModel.OSStatusCode

// Items: their classes, attributes and references, and the input of a ``PasswordItem``.
@_exported public import struct KeychainModel.AccessControlFlags
@_exported public import struct KeychainModel.AccessGroup
@_exported public import enum KeychainModel.AttributeValue
@_exported public import enum KeychainModel.ItemAttribute
@_exported public import enum KeychainModel.ItemClass
@_exported public import struct KeychainModel.ItemIdentifier
@_exported public import struct KeychainModel.ItemRecord
@_exported public import struct KeychainModel.ItemSchema
@_exported public import struct KeychainModel.ItemSecrets
@_exported public import struct KeychainModel.PersistentReference
@_exported public import enum KeychainModel.ProtectionClass

// Keys, and the types in Apple's shape that their initializers accept.
@_exported public import protocol KeychainModel.AccessControlObject
@_exported public import protocol KeychainModel.AuthenticationContextObject
@_exported public import enum KeychainModel.EnclaveKind
@_exported public import enum KeychainModel.HashAlgorithm
@_exported public import struct KeychainModel.KeyKind
@_exported public import enum KeychainModel.KeyType

// Protected files.
@_exported public import enum KeychainModel.FileProtectionClass

// The lock.
@_exported public import struct KeychainModel.KeybagSettings
@_exported public import enum KeychainModel.LockState
@_exported public import struct KeychainModel.LockStatus
@_exported public import struct KeychainModel.PasscodeGuess
@_exported public import struct KeychainModel.PasscodeGuess

// Secrets.
@_exported public import struct SecretMemory.SecretBytes
@_exported public import class SecretMemory.SharedSecret
