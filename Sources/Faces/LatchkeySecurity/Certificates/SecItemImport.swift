// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

/// Reads the keys, certificates and identities of a file into memory, and stores them in a keychain
/// if one is given.
///
/// - Parameters:
///   - importedData: PEM, DER, PKCS #7, PKCS #8 or PKCS #12. PEM blocks with unknown labels are skipped,
///     with a warning to the program's logger.
///   - fileNameOrExtension: accepted and ignored; the format is detected from the bytes.
///   - inputFormat: receives the detected format.
///   - itemType: the wanted type, unless it is `.itemTypeUnknown`; receives the detected type.
///   - flags: accepted and ignored.
///   - keyParams: the passphrase, and the access list of stored keys.
///   - importKeychain: the `SecKeychain` that gets the items; nil stores nothing.
///   - outItems: receives an array of `SecKey`, `SecCertificate` and `SecIdentity`; a key and its
///     certificate form one identity.
/// - Returns: errSecDecode or errSecParam if the data cannot be read; errSecPassphraseRequired;
///   errSecAuthFailed; errSecMultiplePrivKeys; errSecDuplicateItem for a key that the keychain has;
///   errSecNoSuchKeychain.
@discardableResult
public func SecItemImport(
    _ importedData: CFData, _ fileNameOrExtension: CFString?, _ inputFormat: UnsafeMutablePointer<SecExternalFormat>?,
    _ itemType: UnsafeMutablePointer<SecExternalItemType>?, _ flags: SecItemImportExportFlags,
    _ keyParams: UnsafePointer<SecItemImportExportKeyParameters>?, _ importKeychain: Any?,
    _ outItems: UnsafeMutablePointer<CFArray?>?
) -> OSStatus {
    status {
        let keychain = importKeychain as? SecKeychain
        guard keychain != nil || importKeychain == nil else {
            throw KeychainError.parameter("the keychain of an import must be a SecKeychain")
        }
        // A copy is needed because the caller's object may be an NSMutableData.
        let data = SharedSecret(
            SecretBytes(copying: UnsafeRawBufferPointer(start: importedData.bytes, count: importedData.length)))
        let file = try ImportedFile(data, passphrase: try keyParams?.pointee.secret())
        if !file.notes.isEmpty { ProgramLog.current.warn(.importPartsSkipped) }
        let found = try ImportedItems(file)
        if keyParams?.pointee.flags.contains(.importOnlyOne) == true, found.privateKeys > 1 {
            throw KeychainError(OSStatusCode(rawValue: errSecMultiplePrivKeys))
        }
        let wanted = itemType?.pointee ?? .itemTypeUnknown
        let objects = found.objects(of: wanted)
        guard !objects.isEmpty else { throw KeychainError(.decode, "the file holds no item of the requested type") }
        try keychain?.store(objects, try keyParams?.pointee.access())
        inputFormat?.pointee = data.withUnsafeBytes { ImportedItems.format(of: $0, objects.count) }
        itemType?.pointee = ImportedItems.type(of: objects)
        outItems?.pointee = NSArray(array: objects)
    }
}

/// The objects read from a file.
private struct ImportedItems {
    private var identities: [SecIdentity] = []
    private var keys: [SecKey] = []
    private var certificates: [SecCertificate] = []

    init(_ file: ImportedFile) throws(KeychainError) {
        var joined: Set<SecCertificate> = []
        for (entry, _) in file.keys {
            switch entry {
            case .publicKey(let key): keys.append(SecKey(.publicKey(key)))
            case .privateKey(let key):
                let object = SecKey(.inMemory(key))
                if let own = try file.certificate(for: entry) {
                    let certificate = SecCertificate(own.certificate)
                    joined.insert(certificate)
                    identities.append(SecIdentity(certificate, object))
                } else {
                    keys.append(object)
                }
            }
        }
        certificates = file.certificates.map { SecCertificate($0.certificate) }.filter { joined.insert($0).inserted }
    }

    var privateKeys: Int { identities.count + keys.count { $0.body.isPrivate } }

    func objects(of type: SecExternalItemType) -> [NSObject] {
        switch type {
        case .itemTypeUnknown, .itemTypeAggregate: identities + keys + certificates
        case .itemTypePrivateKey: identities.map(\.privateKey) + keys.filter { $0.body.isPrivate }
        case .itemTypePublicKey: keys.filter { !$0.body.isPrivate }
        case .itemTypeCertificate: identities.map(\.certificate) + certificates
        case .itemTypeSessionKey: []
        }
    }

    static func type(of objects: [NSObject]) -> SecExternalItemType {
        guard objects.count == 1 else {
            return objects.allSatisfy { $0 is SecCertificate } ? .itemTypeCertificate : .itemTypeAggregate
        }
        switch objects[0] {
        case is SecCertificate: return .itemTypeCertificate
        case let key as SecKey: return key.body.isPrivate ? .itemTypePrivateKey : .itemTypePublicKey
        default: return .itemTypeAggregate
        }
    }

    static func format(of bytes: UnsafeRawBufferPointer, _ count: Int) -> SecExternalFormat {
        if PKCS12File.isOne(bytes) { return .formatPKCS12 }
        guard PEMBlocks.isDER(bytes) else { return .formatPEMSequence }
        let certificates = CertificateBundle(reading: bytes).certificates
        guard let first = certificates.first else { return .formatOpenSSL }
        return certificates.count == 1 && first.der.count == bytes.count ? .formatX509Cert : .formatPKCS7
    }
}

extension SecItemImportExportKeyParameters {
    /// The passphrase; nil if there is none.
    func secret() throws(KeychainError) -> SharedSecret? {
        guard !flags.contains(.securePassphrase) else {
            throw KeychainError(.interactionNotAllowed, "a prompt for the passphrase is unsupported")
        }
        guard let passphrase else { return nil }
        switch passphrase.takeUnretainedValue() {
        case let text as NSString: return SharedSecret(copying: (text as String).utf8)
        case let data as NSData: return SharedSecret(copying: data as Data)
        default: throw .parameter("the passphrase must be a string or Data")
        }
    }

    /// The access list of the imported keys; nil if there is none.
    func access() throws(KeychainError) -> SecAccess? {
        guard let accessRef else { return nil }
        guard let access = accessRef.takeUnretainedValue() as? SecAccess else {
            throw .parameter("accessRef must be a SecAccess")
        }
        return access
    }
}

// MARK: Export

/// Writes keys, certificates and identities to a file's format.
///
/// - Parameters:
///   - secItemOrArray: a `SecKey`, `SecCertificate` or `SecIdentity`, or an array of them.
///   - outputFormat: `.formatUnknown` means PEM for several items, DER for one certificate, and
///     `.formatOpenSSL` for one key.
///   - flags: `.pemArmour` for text.
///   - keyParams: the passphrase of `.formatPKCS12` and `.formatWrappedPKCS8`.
///   - exportedData: receives the file.
/// - Returns: errSecParam for other objects, or for a format that cannot hold them;
///   errSecPassphraseRequired; errSecUnimplemented for unsupported formats and for keys that are
///   not extractable.
@discardableResult
public func SecItemExport(
    _ secItemOrArray: Any, _ outputFormat: SecExternalFormat, _ flags: SecItemImportExportFlags,
    _ keyParams: UnsafePointer<SecItemImportExportKeyParameters>?, _ exportedData: UnsafeMutablePointer<CFData?>
) -> OSStatus {
    status {
        let items = try ExportedObjects(secItemOrArray)
        let passphrase = try keyParams?.pointee.secret()
        let file = try items.file(outputFormat, isPEM: flags.contains(.pemArmour), passphrase)
        exportedData.pointee = NSData(exposing: file)
    }
}

/// The objects to write to a file.
private struct ExportedObjects {
    private var keys: [KeyFileEntry] = []
    private var certificates: [Certificate] = []

    init(_ objects: Any) throws(KeychainError) {
        for object in objects as? [Any] ?? [objects] {
            switch ItemReference(object) {
            case .key(let key): keys.append(try key.entry())
            case .certificate(let certificate): certificates.append(certificate.body)
            case .identity(let identity):
                keys.append(try identity.privateKey.entry())
                certificates.append(identity.certificate.body)
            case .item, nil: throw .parameter("an item to export must be a key, certificate or identity")
            }
        }
        guard !keys.isEmpty || !certificates.isEmpty else { throw .parameter("there is no item to export") }
    }

    func file(_ format: SecExternalFormat, isPEM: Bool, _ passphrase: SharedSecret?) throws(KeychainError)
        -> SharedSecret
    {
        switch format {
        case .formatPKCS12: return try pkcs12(passphrase)
        case .formatPKCS7:
            guard keys.isEmpty else { throw .parameter("PKCS #7 can hold certificates only") }
            let der = CertificateBundle.pkcs7(certificates)
            return SharedSecret(copying: isPEM ? Array(PEMText.of(der, label: "PKCS7").utf8) : der)
        case .formatX509Cert: return try certificate(isPEM: isPEM)
        case .formatUnknown, .formatPEMSequence, .formatOpenSSL, .formatWrappedPKCS8, .formatBSAFE, .formatSSHv2:
            return try sequence(format, isPEM: isPEM, passphrase)
        case .formatSSH, .formatRawKey, .formatWrappedOpenSSL, .formatWrappedSSH, .formatWrappedLSH,
            .formatNetscapeCertSequence:
            throw KeychainError(.unimplemented, "export in the format \(format) is unsupported")
        }
    }

    private func certificate(isPEM: Bool) throws(KeychainError) -> SharedSecret {
        guard keys.isEmpty, certificates.count == 1 else {
            throw .parameter("the format can hold only one certificate")
        }
        return SharedSecret(copying: isPEM ? Array(PEMText.of(certificates[0].der).utf8) : certificates[0].der)
    }

    private func pkcs12(_ passphrase: SharedSecret?) throws(KeychainError) -> SharedSecret {
        guard let passphrase else { throw KeychainError(OSStatusCode(rawValue: errSecPassphraseRequired)) }
        var entries: [PKCS12File.KeyEntry] = []
        for key in keys {
            guard case .privateKey(let key) = key else { throw .parameter("PKCS #12 cannot hold public keys") }
            entries.append(PKCS12File.KeyEntry(key: key, label: nil))
        }
        let hashes = Dictionary(certificates.map { ($0.der, $0.publicKeyHash) }) { first, _ in first }
        let named = certificates.map { PKCS12File.CertificateEntry(der: $0.der, label: $0.subjectSummary) }
        return try PKCS12File(certificates: named, keys: entries).written(under: passphrase) { hashes[$0] }
    }

    /// The keys, followed by the certificates; DER if there is one item and text is not requested.
    private func sequence(
        _ format: SecExternalFormat, isPEM: Bool, _ passphrase: SharedSecret?
    ) throws(KeychainError) -> SharedSecret {
        let isOne = keys.count + certificates.count == 1
        let isText = isPEM || !isOne || format == .formatPEMSequence
        if isOne, keys.isEmpty { return try certificate(isPEM: isText) }
        let structure = try Self.structure(format, passphrase)
        guard structure != .external || isOne else {
            throw .parameter("the raw formats can hold only one item")
        }
        var files: [SharedSecret] = []
        for key in keys {
            let sealing: SharedSecret? = if case .privateKey = key { passphrase } else { nil }
            files.append(
                try KeyFile.write(key, as: structure, isPEM: isText, passphrase: structure == .pkcs8 ? sealing : nil))
        }
        return SharedSecret(joining: files + certificates.map { SharedSecret(copying: PEMText.of($0.der).utf8) })
    }

    private static func structure(_ format: SecExternalFormat, _ passphrase: SharedSecret?) throws(KeychainError)
        -> KeyFile.Structure
    {
        switch format {
        case .formatWrappedPKCS8:
            guard passphrase != nil else { throw KeychainError(OSStatusCode(rawValue: errSecPassphraseRequired)) }
            return .pkcs8
        case .formatBSAFE: return .external
        case .formatSSHv2: return .openSSH
        default: return passphrase == nil ? .traditional : .pkcs8
        }
    }
}

extension SecKey {
    /// The key in the form that is written to a file.
    ///
    /// - Throws: errSecUnimplemented if the key is not extractable.
    fileprivate func entry() throws(KeychainError) -> KeyFileEntry {
        guard let external = try body.externalSecret() else { return .publicKey(body.publicKey) }
        let type = body.publicKey.kind.type
        return try external.withUnsafeBytes { (bytes) throws(KeychainError) in
            .privateKey(try SoftwareKey(external: bytes, type: type, isTrusted: true))
        }
    }
}
