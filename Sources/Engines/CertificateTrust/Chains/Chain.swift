// SPDX-License-Identifier: Apache-2.0

/// A certificate chain from the leaf to an anchor. The issuer of each certificate is the subject of
/// the next.
public struct Chain: Sendable {
    public let certificates: [Certificate]

    public var leaf: Certificate { certificates[0] }
    /// All certificates except the leaf, from the leaf's issuer to the anchor.
    var issuers: ArraySlice<Certificate> { certificates.dropFirst() }
}
