// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Evaluates the certificates of a server: its chain, its name, and the pins of its public key.
public struct PinnedTrust {
    /// The CA certificates that are trusted. If empty, those of the system are.
    public let anchors: [SecCertificate]
    /// The accepted public keys. If empty, each key is accepted.
    public let pins: Set<KeyPin>

    public init(anchors: [SecCertificate] = [], pins: Set<KeyPin> = []) {
        self.anchors = anchors
        self.pins = pins
    }

    /// Reads CA certificates in DER.
    public init(anchors: [Data], pins: Set<KeyPin> = []) throws {
        self.init(anchors: try anchors.map(Self.certificate), pins: pins)
    }

    /// Evaluates certificates in DER, that of the server first.
    ///
    /// - Parameter date: the validation time; nil for the present time.
    /// - Returns: the chain, from the server to an anchor.
    public func evaluate(_ certificates: [Data], host: String, date: Date? = nil) throws -> [SecCertificate] {
        let certificates = try certificates.map(Self.certificate)
        var trust: SecTrust?
        let policy = SecPolicyCreateSSL(true, host as CFString)
        let status = SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust)
        guard status == errSecSuccess, let created = trust else { throw TrustError.status(status) }
        return try evaluate(created, date: date)
    }

    /// Evaluates a trust object, as an authentication challenge has one.
    public func evaluate(_ trust: SecTrust, date: Date? = nil) throws -> [SecCertificate] {
        if !anchors.isEmpty {
            try check(SecTrustSetAnchorCertificates(trust, anchors as CFArray))
            try check(SecTrustSetAnchorCertificatesOnly(trust, true))
        }
        if let date = date { try check(SecTrustSetVerifyDate(trust, date as CFDate)) }

        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else { throw TrustError.untrusted(error) }

        let count = SecTrustGetCertificateCount(trust)
        let chain = (0..<count).compactMap { SecTrustGetCertificateAtIndex(trust, $0) }
        guard let leaf = chain.first else { throw TrustError.untrusted(nil) }
        if !pins.isEmpty {
            guard let pin = KeyPin(of: leaf), pins.contains(pin) else { throw TrustError.unknownKey }
        }
        return chain
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw TrustError.status(status) }
    }

    private static func certificate(_ der: Data) throws -> SecCertificate {
        guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else { throw TrustError.form }
        return certificate
    }
}
