// SPDX-License-Identifier: Apache-2.0

// The policies, identities and refusals that the configuration uses.
@_exported public import LatchkeyNIOSSL
