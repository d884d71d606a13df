// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

/// A chain that a trust evaluation has accepted, from the leaf to the anchor.
///
/// Pins are compared with this chain alone. A server can send any certificate, also one with a
/// pinned key that has issued nothing.
public struct ValidatedChain: Hashable, Sendable {
    /// Not empty; the leaf is the first.
    public let certificates: [Certificate]
    public let leaf: Certificate

    /// The chain of a verdict; nil if it is not trusted.
    public init?(_ verdict: TrustVerdict) {
        guard verdict.isTrusted else { return nil }
        self.init(unchecked: verdict.chain)
    }

    /// A chain that was not evaluated; nil if it is empty.
    init?(unchecked certificates: [Certificate]) {
        guard let leaf = certificates.first else { return nil }
        (self.certificates, self.leaf) = (certificates, leaf)
    }
}
