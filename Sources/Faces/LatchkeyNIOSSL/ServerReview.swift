// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust
package import TransportPolicy

/// Takes part in the handshakes of a client: it may refuse a server that the policy accepts, may
/// give another evaluation of its certificates, and may give an identity when the server asks for
/// one.
package protocol ServerReview: Sendable {
    /// Connections are shared only by requests with the same identifier: a connection that one part
    /// of a program has accepted is not used by another.
    var identifier: Swift.ObjectIdentifier { get }

    /// Decides about a server. May wait for a program's answer. Called once for each handshake, not on
    /// an event loop.
    func answer(to evaluation: ServerEvaluation) async -> ServerAnswer

    /// The identity for a server that asks for a certificate, after it was accepted; nil for none.
    func identity(for server: ServerName) async throws(TLSRefusal) -> TLSIdentity?
}

package enum ServerAnswer: Sendable {
    /// The decision of the policy.
    case `default`
    /// Another evaluation of the same served certificates, such as a program's with anchors of its
    /// own. The policy is applied to it: versions, strength, pins.
    case evaluated(TrustVerdict)
    /// The program accepts the server without a valid chain. Honored only where the policy leaves that
    /// to programs (`TLSRequirements.leavesTrustToProgram`), and otherwise the same as `default`.
    case acceptedByProgram
    case refused(TLSRefusal)
}

/// The certificates of a server after their evaluation, before the handshake ends.
package struct ServerEvaluation: Sendable {
    package let requirements: TLSRequirements
    /// Leaf first; not empty.
    package let served: [Certificate]
    package let verdict: TrustVerdict
    /// The refusal by the policy alone; nil if it accepts.
    package let refusal: TLSRefusal?
}
