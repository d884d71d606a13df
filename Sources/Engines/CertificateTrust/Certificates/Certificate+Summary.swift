// SPDX-License-Identifier: Apache-2.0

// What a certificate says of whom it is about, for people.

extension Certificate {
    /// The last common name of the subject; nil where there is none.
    public var commonName: String? { subject.values(of: .commonName).last?.text }

    /// Whom the certificate is about: the common name, else the unit, the organisation, an address of mail or a host.
    public var subjectSummary: String? {
        let named = [ObjectIdentifier.commonName, .organizationalUnitName, .organizationName].lazy.compactMap { type in
            self.subject.values(of: type).last?.text
        }
        return named.first ?? emailAddresses.first ?? extensions.subjectAlternativeNames?.first?.description
    }

    /// How it was signed, `SHA-256 with RSA`, or the identifier of what has no name here.
    public var signatureName: String { SignatureScheme.name(of: signatureAlgorithm.algorithm) }

    /// The addresses of mail of the alternative names, and those of the subject (RFC 8550, section 3).
    public var emailAddresses: [String] {
        let alternative = (extensions.subjectAlternativeNames ?? []).compactMap { name in
            if case .email(let bytes) = name { String(decoding: bytes, as: UTF8.self) } else { String?.none }
        }
        let known = Set(alternative)
        return alternative + subject.values(of: .emailAddressName).compactMap(\.text).filter { !known.contains($0) }
    }
}
