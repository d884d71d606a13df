// SPDX-License-Identifier: Apache-2.0

import DomainPinning
import Foundation
import PinningDelegates
import Security
import TrustEvaluators

/// The method that decides about the server, by its name on the command line. Pins are files of certificates in DER, or
/// SHA-256 digests of public keys in base64.
struct PinningMethod {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let name: String
    private let pins: [String]
    private let host: String

    init(_ name: String, pins: [String], host: String) {
        (self.name, self.pins, self.host) = (name, pins, host)
    }

    /// The delegate of the session; nil if App Transport Security decides alone.
    func delegate(_ refusals: Refusals) throws -> (any URLSessionDelegate)? {
        switch name {
        case "none": return nil
        case "certificate": return CertificatePinningDelegate(pinnedCertificate: try certificates()[0].af.data)
        case "key": return PublicKeyPinningDelegate(pinnedKeyHashes: Set(pins))
        case "domain", "domain-report": return DomainPinningDelegate(try domainPinning(refusals))
        default:
            let manager = ServerTrustManager(evaluators: name == "evaluated-other" ? [:] : [host: try evaluator()])
            return SessionDelegate(manager) { refusals.add("\($0)") }
        }
    }

    private func evaluator() throws -> any ServerTrustEvaluating {
        switch name {
        case "evaluated-default": DefaultTrustEvaluator()
        case "evaluated-disabled": DisabledTrustEvaluator()
        case "evaluated-certificate": PinnedCertificatesTrustEvaluator(certificates: try certificates())
        case "evaluated-self-signed":
            PinnedCertificatesTrustEvaluator(certificates: try certificates(), acceptSelfSignedCertificates: true)
        case "evaluated-key": PublicKeysTrustEvaluator(keys: try certificates().compactMap(\.af.publicKey))
        case "evaluated-revocation": RevocationTrustEvaluator()
        case "evaluated-revocation-required":
            RevocationTrustEvaluator(options: [.any, .requirePositiveResponse])
        case "evaluated-composite":
            CompositeTrustEvaluator(evaluators: [
                RevocationTrustEvaluator(),
                PublicKeysTrustEvaluator(keys: try certificates().compactMap(\.af.publicKey)),
            ])
        default: throw Failure(description: "unknown method \(name)")
        }
    }

    private func domainPinning(_ refusals: Refusals) throws -> DomainPinning {
        let settings: [TSKDomainKey: Any] = [
            kTSKPublicKeyHashes: pins, kTSKIncludeSubdomains: true, kTSKEnforcePinning: name == "domain",
            kTSKReportUris: ["https://reports.example.com/pins"],
        ]
        return try DomainPinning(configuration: [kTSKPinnedDomains: [host: settings]]) { report in
            refusals.add("\(report.notedHostname) served \(report.servedPins.first ?? "no key"), which is not pinned")
        }
    }

    private func certificates() throws -> [SecCertificate] {
        let found = try pins.map { path in
            let data = try Data(contentsOf: URL(filePath: path))
            guard let certificate = SecCertificateCreateWithData(nil, data as CFData) else {
                throw Failure(description: "\(path) is not a certificate")
            }
            return certificate
        }
        guard !found.isEmpty else { throw Failure(description: "\(name) needs a certificate") }
        return found
    }
}
