// SPDX-License-Identifier: Apache-2.0

/// Certificates each of which bears the name of the next as its issuer: the leaf first, an anchor last.
public struct Chain: Sendable {
    public let certificates: [Certificate]

    public var leaf: Certificate { certificates[0] }
    /// The certificates that have issued another, from the leaf's issuer to the anchor.
    var issuers: ArraySlice<Certificate> { certificates.dropFirst() }
}
