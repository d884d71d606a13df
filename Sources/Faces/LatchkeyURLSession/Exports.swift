// SPDX-License-Identifier: Apache-2.0

// The types that a program needs to make its policy and to read refusals.
@_exported public import LatchkeyNIOSSL
// `serverTrust`, `URLCredential(trust:)`, `SecTrust`, and with them Foundation and
// FoundationNetworking.
@_exported public import LatchkeySecurity
