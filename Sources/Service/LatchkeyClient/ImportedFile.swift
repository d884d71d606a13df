// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
public import KeyServices
public import KeychainModel
public import SecretMemory

/// The keys and certificates of a file in any supported format.
public struct ImportedFile: Sendable {
    /// In the order of the file, with the labels that the file gives them.
    public private(set) var keys: [(entry: KeyFileEntry, label: String?)] = []
    public private(set) var certificates: [(certificate: Certificate, label: String?)] = []
    /// A sentence for each part of a text that was skipped, although it may be one of them, and for each
    /// kind of entries of PKCS #12 that was.
    public private(set) var notes: [String] = []
    private var byKey: [[UInt8]: (certificate: Certificate, label: String?)] = [:]

    /// - Throws: errSecDecode or errSecParam if the file cannot be read; errSecAuthFailed or
    ///   errSecPassphraseRequired if the passphrase is wrong or missing.
    public init(_ bytes: SharedSecret, passphrase: SharedSecret?) throws(KeychainError) {
        try bytes.withUnsafeBytes { (bytes) throws(KeychainError) in
            if PKCS12File.isOne(bytes) {
                try take(PKCS12File(reading: bytes, passphrase: passphrase))
            } else {
                try take(bytes, passphrase)
            }
        }
        byKey = Dictionary(certificates.map { ($0.certificate.publicKeyHash, $0) }) { first, _ in first }
    }

    private mutating func take(_ file: PKCS12File) throws(KeychainError) {
        notes = file.notes
        keys = file.keys.map { (.privateKey($0.key), $0.label) }
        certificates = try file.certificates.map { (entry) throws(KeychainError) in
            do throws(CertificateError) {
                return (try Certificate(der: entry.der), entry.label)
            } catch {
                throw KeychainError(.decode, "a certificate in the file cannot be read: \(error)")
            }
        }
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer, _ passphrase: SharedSecret?) throws(KeychainError) {
        let bundle = CertificateBundle(reading: bytes)
        certificates = bundle.certificates.map { ($0, nil) }
        // A DER file contains either a certificate or keys.
        let isText = !PEMBlocks.isDER(bytes)
        if let rejected = bundle.rejected.first, isText {
            throw KeychainError(.decode, "\(rejected.place) of the file cannot be read: \(rejected.error)")
        }
        notes = bundle.notes
        guard isText || certificates.isEmpty else { return }
        let read = try KeyFile.read(bytes, passphrase: passphrase, allowsNone: !certificates.isEmpty)
        keys = read.map { ($0, nil) }
    }

    /// Returns the certificate of a private key; nil if the file contains none.
    public func certificate(for entry: KeyFileEntry) throws(KeychainError) -> (
        certificate: Certificate, label: String?
    )? {
        guard case .privateKey(let key) = entry else { return nil }
        let label = try key.publicKey.applicationLabel()
        return byKey[label]
    }
}
