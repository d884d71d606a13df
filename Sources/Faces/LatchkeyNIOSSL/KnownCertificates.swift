// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LinuxSystem

/// The certificates that peers have sent last, parsed: most handshakes of a program see the same
/// ones. They are parsed once, and evaluated in each handshake.
final class KnownCertificates: Sendable {
    static let shared = KnownCertificates()

    /// By their DER. The older half is forgotten when the newer half is full.
    private struct State {
        var newer: [[UInt8]: Certificate] = [:]
        var older: [[UInt8]: Certificate] = [:]

        mutating func add(_ certificate: Certificate) {
            if newer.count >= KnownCertificates.maxCount { (older, newer) = (newer, [:]) }
            newer[certificate.der] = certificate
        }
    }

    private let state = SystemMutex(State())
    /// Of one half, and of the bytes of one certificate. Longer ones are parsed each time.
    private static let (maxCount, maxLength) = (64, 8 << 10)

    init() {}

    /// The number of certificates that are kept.
    var count: Int { state.withLock { $0.newer.count + $0.older.count } }

    /// The certificate with this encoding.
    ///
    /// - Throws: if it cannot be parsed.
    func certificate(der: [UInt8]) throws(CertificateError) -> Certificate {
        let known = state.withLock { state -> Certificate? in
            if let certificate = state.newer[der] { return certificate }
            guard let certificate = state.older.removeValue(forKey: der) else { return nil }
            state.add(certificate)
            return certificate
        }
        if let known { return known }
        let certificate = try Certificate(der: der)
        if der.count <= Self.maxLength { state.withLock { $0.add(certificate) } }
        return certificate
    }
}
