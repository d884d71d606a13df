// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A PKCS #12 file (RFC 7292): certificates and private keys under one passphrase.
public struct PKCS12File: Sendable {
    public struct CertificateEntry: Sendable {
        /// In DER.
        public let der: [UInt8]
        /// The friendly name; nil if there is none.
        public let label: String?

        public init(der: [UInt8], label: String?) {
            self.der = der
            self.label = label
        }
    }

    public struct KeyEntry: Sendable {
        public let key: SoftwareKey
        /// The friendly name; nil if there is none.
        public let label: String?
        /// The local key ID in the file, or nil. A key and its certificates have the same one.
        public let localKeyID: [UInt8]?

        public init(key: SoftwareKey, label: String?, localKeyID: [UInt8]? = nil) {
            self.key = key
            self.label = label
            self.localKeyID = localKeyID
        }
    }

    /// In the order of the file.
    public let certificates: [CertificateEntry]
    public let keys: [KeyEntry]
    /// A sentence for each kind of entries that was skipped.
    public let notes: [String]

    public init(certificates: [CertificateEntry], keys: [KeyEntry]) {
        (self.certificates, self.keys, notes) = (certificates, keys, [])
    }

    /// Whether the bytes look like a PKCS #12 file: a `SEQUENCE` that begins with the version 3.
    public static func isOne(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 16, bytes[0] == 0x30 else { return false }
        let start = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7F)
        return bytes.count > start + 3 && bytes[start..<start + 3].elementsEqual([0x02, 0x01, 0x03])
    }

    // MARK: Reading

    /// Reads a file.
    ///
    /// - Parameter passphrase: nil if none was given; then the empty passphrase is tried.
    /// - Throws: errSecPassphraseRequired if a passphrase is needed and none was given,
    ///   errSecAuthFailed for a wrong passphrase or changed bytes, errSecDecode for bytes that are
    ///   not a PKCS #12 file, errSecUnimplemented for unsupported content.
    public init(reading bytes: UnsafeRawBufferPointer, passphrase: SharedSecret?) throws(KeychainError) {
        guard bytes.count <= KeyFile.maxLength else {
            throw .parameter("a key file must have at most \(KeyFile.maxLength >> 20) MiB")
        }
        let archive: PKCS12Archive
        do throws(PKCS12Error) {
            archive = try PKCS12Archive(reading: bytes, passphrase: passphrase ?? SharedSecret(copying: []))
        } catch {
            throw KeychainError(error, hasPassphrase: passphrase != nil)
        }
        notes = archive.skippedKinds.map { "\($0) were skipped" }
        certificates = archive.certificates.map { CertificateEntry(der: $0.der, label: $0.attributes.friendlyName) }
        keys = try archive.keys.map { (entry) throws(KeychainError) in
            guard case .privateKey(let key) = try KeyFile.entry(entry.key) else { throw .decode }
            return KeyEntry(key: key, label: entry.attributes.friendlyName, localKeyID: entry.attributes.localKeyID)
        }
    }

    // MARK: Writing

    /// How a file is protected.
    public enum Form: Sendable {
        /// PBES2, and the integrity check of PKCS #12.
        case common
        /// PBES2 and PBMAC1 (RFC 9579), for OpenSSL 3.4, Java 24 and newer readers.
        case pbmac1
        /// For systems without PBES2: Triple DES and SHA-1, both weak.
        case legacy

        fileprivate var protection: PKCS12Archive.Protection {
            switch self {
            case .common: .modern
            case .pbmac1: .modernWithPBMAC1
            case .legacy: .legacy
            }
        }
    }

    /// Returns the bytes of the file.
    ///
    /// - Parameters:
    ///   - passphrase: not empty.
    ///   - form: the form that the readers of the file support.
    ///   - publicKeyHash: returns the SHA-1 digest of the public key of a certificate in DER; it
    ///     links the certificate to its key.
    public func written(
        under passphrase: SharedSecret, as form: Form = .common, publicKeyHash: ([UInt8]) -> [UInt8]?
    ) throws(KeychainError) -> SharedSecret {
        guard passphrase.count > 0 else { throw .parameter("the passphrase is empty") }
        guard passphrase.withUnsafeBytes({ !$0.contains(0) }) else {
            throw .parameter("the passphrase must not contain a zero byte")
        }
        var archive = PKCS12Archive()
        for entry in keys {
            var identifier = entry.localKeyID
            if identifier == nil { identifier = try entry.key.publicKey.applicationLabel() }
            let attributes = PKCS12Archive.Attributes(friendlyName: entry.label, localKeyID: identifier)
            archive.keys.append(.init(key: entry.key.decoded, attributes: attributes))
        }
        let identifiers = Set(archive.keys.compactMap(\.attributes.localKeyID))
        for entry in certificates {
            let identifier = publicKeyHash(entry.der).flatMap { identifiers.contains($0) ? $0 : nil }
            archive.certificates.append(
                .init(der: entry.der, attributes: .init(friendlyName: entry.label, localKeyID: identifier)))
        }
        let whole = archive
        return try crypto { () throws(OpenSSLError) in
            try whole.written(under: passphrase, form.protection)
        }
    }
}

extension KeychainError {
    fileprivate init(_ error: PKCS12Error, hasPassphrase: Bool) {
        switch error {
        case .passphrase where !hasPassphrase:
            self.init(OSStatusCode(rawValue: -25260), "the file needs a passphrase", hint: "-P or --passphrase-file")
        case .passphrase: self.init(.authFailed, "the passphrase is wrong, or the file was changed")
        case .unsupported(let name): self.init(.unimplemented, "the file contains \(name), but this is not supported")
        case .malformed: self.init(.decode, "the bytes are not a PKCS #12 file")
        }
    }
}

extension SoftwareKey {
    fileprivate var decoded: DecodedKey {
        DecodedKey(
            key: key, isPrivate: true, curve: kind.type == .ellipticCurve ? EllipticCurve(rawValue: kind.bits) : nil)
    }
}
