// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust
internal import Foundation

// For the modules of connections: they evaluate a server's certificates before a program sees them.

extension SecTrust {
    /// A trust object for the certificates that a server sent, with the evaluation that was made.
    ///
    /// - Parameters:
    ///   - served: at least one, leaf first.
    ///   - server: the name that the certificate must have.
    ///   - anchors: the program's own anchors.
    ///   - isAnchorsOnly: whether only these are trusted, and neither trust settings nor the
    ///     keychain are used.
    ///   - verdict: the result, until the program changes the trust object.
    package convenience init(
        served: [Certificate], server: String, anchors: [Certificate], isAnchorsOnly: Bool,
        revocation: RevocationOptions?, systemAnchors: SystemAnchors, verdict: TrustVerdict
    ) {
        var policies = [SecPolicyCreateSSL(true, server as CFString)]
        if let revocation { policies.append(SecPolicy(.revocation(revocation))) }
        self.init(served.map(SecCertificate.init), policies)
        change { state in
            if !anchors.isEmpty || isAnchorsOnly { state.anchors = anchors.map(SecCertificate.init) }
            state.isAnchorsOnly = isAnchorsOnly
            state.isIsolated = isAnchorsOnly
            state.systemAnchors = systemAnchors
            state.isServed = true
        }
        keep(verdict)
    }

    /// The certificate that is evaluated.
    package var leaf: Certificate { state.certificates[0].body }

    /// Whether the program has evaluated the trust object.
    package var isEvaluatedByProgram: Bool { state.isEvaluatedByProgram }

    /// The verdict of the last evaluation, or of a new one. May read files and use the network.
    package var currentVerdict: TrustVerdict { verdict }
}
