// SPDX-License-Identifier: Apache-2.0

// The types that the declarations of this module use, and that a program makes its policy with.

// The requirements for the connections of a program.
@_exported public import struct TransportPolicy.ATSReading
@_exported public import struct TransportPolicy.AppTransportSecurity
@_exported public import struct TransportPolicy.ConnectionPolicy
@_exported public import struct TransportPolicy.DomainName
@_exported public import struct TransportPolicy.DomainRule
@_exported public import enum TransportPolicy.LoadPurpose
@_exported public import struct TransportPolicy.Pin
@_exported public import struct TransportPolicy.PinConfiguration
@_exported public import enum TransportPolicy.PinPlacement
@_exported public import struct TransportPolicy.PinRequirement
@_exported public import struct TransportPolicy.PinSet
@_exported public import struct TransportPolicy.TransportPolicyError

// The pins that the keychain stores.
@_exported public import struct KeychainModel.KeychainError
@_exported public import struct LatchkeyClient.HostPins
@_exported public import struct LatchkeyClient.StoredPins

// Why a connection is refused.
@_exported public import struct TransportPolicy.PinFailure
@_exported public import struct TransportPolicy.TransportErrorCode
@_exported public import struct TransportPolicy.TransportRefusal
@_exported public import struct TransportPolicy.TransportViolation

// Certificates and their evaluation.
@_exported public import class CertificateTrust.Certificate
@_exported public import struct CertificateTrust.RevocationOptions
@_exported public import enum CertificateTrust.ServerName
@_exported public import class CertificateTrust.SystemAnchors
@_exported public import struct CertificateTrust.TrustFailure
@_exported public import enum CertificateTrust.TrustRule
@_exported public import struct CertificateTrust.TrustVerdict
@_exported public import struct TransportPolicy.ValidatedChain
