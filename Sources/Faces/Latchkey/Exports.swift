// SPDX-License-Identifier: Apache-2.0

// The types that this module's own declarations are made of.
@_exported public import enum KeychainModel.HashAlgorithm
@_exported public import struct KeychainModel.KeychainError
@_exported public import struct KeychainModel.KeychainFinding
@_exported public import struct KeychainModel.OSStatusCode
@_exported public import enum KeychainModel.ProtectionClass
@_exported public import struct SecretMemory.SecretBytes
@_exported public import class SecretMemory.SharedSecret
