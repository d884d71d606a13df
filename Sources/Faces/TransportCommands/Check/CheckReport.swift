// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import TransportPolicy

/// The report of `latchkey tls check`, in the shape of its JSON.
struct CheckReport: Encodable {
    var host: String
    var port: Int
    /// Whether a program with this policy would use the connection.
    var accepted: Bool
    /// Why it would not; nil if it would.
    var reason: String?
    /// The code of Apple's NSURLErrorDomain; nil if it would, or if there was no connection.
    var code: Int?
    var steps: [CheckStep]
    /// The requirements for the server, one sentence each.
    var applied: [String]
    /// The validated chain, or the served certificates if there is none.
    var certificates: [CertificateSummary]

    init(_ steps: CheckSteps, applied: [String]) {
        self.applied = applied
        (host, port) = (steps.probe.server.host, steps.probe.server.port)
        self.steps = steps.all
        switch steps.result.outcome {
        case .accepted(let peer):
            (accepted, certificates) = (true, (peer.chain?.certificates ?? []).map(CertificateSummary.init))
        case .refused(let refusal):
            (accepted, reason, code) = (false, refusal.explanation, refusal.code.rawValue)
            certificates = refusal.served.map(CertificateSummary.init)
        case .unreachable(let reason):
            (accepted, self.reason, certificates) = (false, reason, [])
        }
    }

    /// One line for each step, then the certificates with their pins, then the result.
    var text: TerminalText {
        let lines = steps.map { step -> TerminalText in
            "\(step.state.rawValue.padded(10))\(step.name.padded(13))\(TerminalText(step.reason, maxLength: 1000))\n"
        }
        let chain = certificates.enumerated().map { index, certificate -> TerminalText in
            """
              \(index) \(certificate.subject)
                issuer     \(certificate.issuer)
                not after  \(certificate.notAfter)
                pin        \(certificate.pin)

            """
        }
        let isConnected = code != nil
        let result: TerminalText =
            accepted
            ? "accepted\n"
            : "\(isConnected ? "refused" : "no result"): \(TerminalText(reason ?? "", maxLength: 1000))\n"
        let heading: TerminalText = chain.isEmpty ? "" : "\ncertificates:\n"
        let policy = applied.map { "  \(TerminalText($0, maxLength: 1000))\n" as TerminalText }.joined()
        return lines.joined() + "\napplied:\n" + policy + heading + chain.joined() + "\n" + result
    }
}

/// A certificate of a server, with its pin to copy.
struct CertificateSummary: Encodable {
    var subject: String
    var issuer: String
    /// RFC 3339.
    var notAfter: String
    /// `sha256/BASE64`.
    var pin: String

    init(_ certificate: Certificate) {
        subject = certificate.subject.isEmpty ? certificate.subjectSummary ?? "no name" : "\(certificate.subject)"
        issuer = "\(certificate.issuer)"
        notAfter = "\(certificate.validity.notAfter)"
        pin = Pin(certificate).description
    }
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - utf8.count)) }
}
