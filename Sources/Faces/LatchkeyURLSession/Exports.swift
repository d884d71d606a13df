// SPDX-License-Identifier: Apache-2.0

// The types with which a program makes its policy and reads refusals.
@_exported public import LatchkeyNIOSSL
// `serverTrust`, `URLCredential(trust:)`, `SecTrust`, and with them Foundation and
// FoundationNetworking.
@_exported public import LatchkeySecurity
