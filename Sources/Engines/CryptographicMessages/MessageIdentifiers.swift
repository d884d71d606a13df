// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust

// The object identifiers of CMS and its algorithms, with their sources.

extension ObjectIdentifier {
    // MARK: Content types (RFC 5652, sections 4 to 6)
    /// `id-data`: arbitrary bytes.
    public static let cmsData = Self(1, 2, 840, 113549, 1, 7, 1)
    /// `id-signedData`.
    public static let cmsSignedData = Self(1, 2, 840, 113549, 1, 7, 2)
    /// `id-envelopedData`.
    public static let cmsEnvelopedData = Self(1, 2, 840, 113549, 1, 7, 3)

    // MARK: Signed attributes (RFC 5652, section 11; RFC 8551, section 2.5.2)
    static let contentTypeAttribute = Self(1, 2, 840, 113549, 1, 9, 3)
    static let messageDigestAttribute = Self(1, 2, 840, 113549, 1, 9, 4)
    static let signingTimeAttribute = Self(1, 2, 840, 113549, 1, 9, 5)
    static let capabilitiesAttribute = Self(1, 2, 840, 113549, 1, 9, 15)

    // MARK: Digests (RFC 3370, RFC 5754)
    static let digestMD5 = Self(1, 2, 840, 113549, 2, 5)
    static let digestSHA1 = Self(1, 3, 14, 3, 2, 26)
    static let digestSHA224 = Self(2, 16, 840, 1, 101, 3, 4, 2, 4)
    static let digestSHA256 = Self(2, 16, 840, 1, 101, 3, 4, 2, 1)
    static let digestSHA384 = Self(2, 16, 840, 1, 101, 3, 4, 2, 2)
    static let digestSHA512 = Self(2, 16, 840, 1, 101, 3, 4, 2, 3)

    // MARK: Signatures (RFC 3370, RFC 4056, RFC 5753, RFC 5754)
    static let keyRSA = Self(1, 2, 840, 113549, 1, 1, 1)
    static let signatureRSASHA1 = Self(1, 2, 840, 113549, 1, 1, 5)
    static let signatureRSASHA224 = Self(1, 2, 840, 113549, 1, 1, 14)
    static let signatureRSASHA256 = Self(1, 2, 840, 113549, 1, 1, 11)
    static let signatureRSASHA384 = Self(1, 2, 840, 113549, 1, 1, 12)
    static let signatureRSASHA512 = Self(1, 2, 840, 113549, 1, 1, 13)
    static let signaturePSS = Self(1, 2, 840, 113549, 1, 1, 10)
    static let maskMGF1 = Self(1, 2, 840, 113549, 1, 1, 8)
    static let signatureECDSASHA1 = Self(1, 2, 840, 10045, 4, 1)
    static let signatureECDSASHA224 = Self(1, 2, 840, 10045, 4, 3, 1)
    static let signatureECDSASHA256 = Self(1, 2, 840, 10045, 4, 3, 2)
    static let signatureECDSASHA384 = Self(1, 2, 840, 10045, 4, 3, 3)
    static let signatureECDSASHA512 = Self(1, 2, 840, 10045, 4, 3, 4)

    // MARK: Key transport (RFC 3560, RFC 4055)
    static let encryptionOAEP = Self(1, 2, 840, 113549, 1, 1, 7)
    static let sourceSpecified = Self(1, 2, 840, 113549, 1, 1, 9)

    // MARK: Key agreement (RFC 5753, section 7.1; RFC 3565)
    static let keyCurve = Self(1, 2, 840, 10045, 2, 1)
    static let agreementSHA1 = Self(1, 3, 133, 16, 840, 63, 0, 2)
    static let agreementSHA224 = Self(1, 3, 132, 1, 11, 0)
    static let agreementSHA256 = Self(1, 3, 132, 1, 11, 1)
    static let agreementSHA384 = Self(1, 3, 132, 1, 11, 2)
    static let agreementSHA512 = Self(1, 3, 132, 1, 11, 3)
    static let wrapAES128 = Self(2, 16, 840, 1, 101, 3, 4, 1, 5)
    static let wrapAES192 = Self(2, 16, 840, 1, 101, 3, 4, 1, 25)
    static let wrapAES256 = Self(2, 16, 840, 1, 101, 3, 4, 1, 45)

    // MARK: Content encryption (RFC 3370, RFC 3565)
    static let cipherAES128 = Self(2, 16, 840, 1, 101, 3, 4, 1, 2)
    static let cipherAES192 = Self(2, 16, 840, 1, 101, 3, 4, 1, 22)
    static let cipherAES256 = Self(2, 16, 840, 1, 101, 3, 4, 1, 42)
    static let cipherTripleDES = Self(1, 2, 840, 113549, 3, 7)
}
