// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LinuxSystem

/// A name that a command line gives to a certificate: its common name, or an email address.
struct CertificateNickname {
    private let text: String

    init(_ text: String) { self.text = text.lowercased() }

    func matches(_ certificate: Certificate) -> Bool {
        let names =
            [certificate.commonName, certificate.subjectSummary].compactMap(\.self) + certificate.emailAddresses
        return names.contains { $0.lowercased() == text }
    }
}

/// Hexadecimal digits that name a certificate on a command line.
struct CertificateHash {
    private let digits: String

    init(_ text: String) { digits = text.lowercased().filter { $0 != " " && $0 != ":" } }

    func matches(_ certificate: Certificate) -> Bool {
        let identifier = certificate.extensions.subjectKeyIdentifier.map { [Array($0)] } ?? []
        return (identifier + [certificate.sha1, certificate.sha256]).contains { Hexadecimal.text($0) == digits }
    }
}

extension [Certificate] {
    /// The certificate with the latest start of validity.
    var newest: Certificate? { self.max { $0.validity.notBefore < $1.validity.notBefore } }
}
