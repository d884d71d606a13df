// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import LatchkeyClient
internal import LatchkeyService

/// The evaluation of a peer's certificates: its anchors, and whether revocation is checked. By default the same as in
/// `SecTrust`, with the system's anchors, the user's trust settings and the certificates of the keychain.
public struct PeerTrust: Sendable {
    /// The program's own anchors.
    public var anchors: [Certificate]
    /// Whether only ``anchors`` are trusted. The system's anchors, the trust settings and the
    /// certificates of the keychain are then not used.
    public var isAnchorsOnly: Bool
    /// How revocation is checked; nil if it is not. Evidence that is fetched delays the handshake by
    /// ten seconds at most.
    public var revocation: RevocationOptions?
    public var systemAnchors: SystemAnchors
    /// The policy for certificates of servers to count as publicly logged. If the policy is required, other
    /// certificates are refused, otherwise only where App Transport Security requires it. Nil if the program knows no
    /// logs; then App Transport Security's requirement cannot be satisfied.
    public var transparency: CertificateTransparencyPolicy?
    /// The trust settings; nil for those of the user and the administrator.
    package var settings: TrustSettingsDomains?

    /// - Parameters:
    ///   - anchors: the program's own anchors.
    ///   - isAnchorsOnly: whether only these are trusted.
    public init(
        anchors: [Certificate] = [], isAnchorsOnly: Bool = false, revocation: RevocationOptions? = nil,
        systemAnchors: SystemAnchors = .shared
    ) {
        (self.anchors, self.isAnchorsOnly) = (anchors, isAnchorsOnly)
        (self.revocation, self.systemAnchors) = (revocation, systemAnchors)
    }

    /// Trust in these anchors alone.
    public static func only(_ anchors: [Certificate]) -> PeerTrust { PeerTrust(anchors: anchors, isAnchorsOnly: true) }

    /// Evaluates the certificates that a peer sent. Reads files, and may read the keychain and the
    /// network.
    ///
    /// - Parameter served: at least one, leaf first.
    /// - Parameter time: seconds since 1970.
    func verdict(on served: [Certificate], _ policy: TrustPolicy, at time: Double) -> TrustVerdict {
        var evaluation = TrustEvaluation(
            served, policies: [policy] + (revocation.map { [.revocation($0)] } ?? []), at: time)
        evaluation.anchors = anchors
        evaluation.isAnchorsOnly = isAnchorsOnly
        evaluation.systemAnchors = systemAnchors
        // Only servers' certificates are logged.
        if case .server = policy { evaluation.transparency = transparency }
        evaluation.fetcher = .shared
        if !isAnchorsOnly {
            evaluation.issuers = KeychainCertificates.issuers
            evaluation.take(settings ?? TrustSettingsDomains(user: try? KeychainClient.home().dataDirectory))
        }
        return evaluation.verdict()
    }

    /// Whether the leaf of the verdict's chain is publicly logged.
    func hasTransparency(_ verdict: TrustVerdict) -> Bool {
        guard verdict.isTrusted, let transparency else { return false }
        return transparency.result(of: verdict.chain, at: verdict.validationTime).isSatisfied
    }
}
