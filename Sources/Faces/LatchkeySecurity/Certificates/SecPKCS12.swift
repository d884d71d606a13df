// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Reads the identities of a PKCS #12 file into memory, and stores them in a keychain if one is given.
///
/// - Parameters:
///   - pkcs12_data: the file, in DER.
///   - options: `kSecImportExportPassphrase`, a string. `kSecImportExportKeychain`, a `SecKeychain`,
///     gets the identities and certificates, unless `kSecImportToMemoryOnly` is true; without it,
///     nothing is stored. `kSecImportExportAccess`, a `SecAccess`, is kept with the stored keys.
///     `kSecUseDataProtectionKeychain` is accepted and has no effect. Other options have no effect
///     either; the program's logger gets a warning with their names.
///   - items: receives an array of dictionaries: one for each key with its certificate
///     (`kSecImportItemIdentity`, `…Label`, `…KeyID`, `…CertChain` and `…Trust`), or, if the file
///     holds certificates only, one with these as `kSecImportItemCertChain`.
/// - Returns: errSecPassphraseRequired if a passphrase is needed and missing; errSecAuthFailed if
///   it is wrong; errSecDecode if the data is not a PKCS #12 file; errSecParam if the passphrase is
///   not a string, the keychain not a `SecKeychain` or the access list not a `SecAccess`;
///   errSecDuplicateItem for an identity that the keychain has; errSecNoSuchKeychain;
///   errSecUnimplemented for unsupported content.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    status {
        let options = try PKCS12Options(options)
        // A copy is needed because the caller's object may be an NSMutableData.
        let data = SharedSecret(
            SecretBytes(copying: UnsafeRawBufferPointer(start: pkcs12_data.bytes, count: pkcs12_data.length)))
        let file = try data.withUnsafeBytes { (bytes) throws(KeychainError) in
            try PKCS12File(reading: bytes, passphrase: options.passphrase)
        }
        if !file.notes.isEmpty { ProgramLog.current.warn(.importPartsSkipped) }
        let imported = try PKCS12Items(file)
        let dictionaries = try imported.dictionaries()
        try options.keychain?.store(imported.objects(of: dictionaries), options.access)
        items.pointee = NSArray(array: dictionaries)
    }
}

/// The options that a program passes with a file.
private struct PKCS12Options {
    let passphrase: SharedSecret?
    /// The keychain that gets the items; nil if nothing is stored.
    let keychain: SecKeychain?
    /// The access list of the stored keys; nil for none.
    let access: SecAccess?

    init(_ options: CFDictionary) throws(KeychainError) {
        var passphrase: SharedSecret?
        var keychain: Any?
        var access: Any?
        var isMemoryOnly = false
        for (key, value) in options {
            switch (key as? String).map({ NSString(string: $0) }) {
            case kSecImportExportPassphrase:
                guard let text = value as? String else {
                    throw .parameter("kSecImportExportPassphrase must be a string")
                }
                passphrase = SharedSecret(copying: text.utf8)
            case kSecImportExportKeychain: keychain = value
            case kSecImportToMemoryOnly: isMemoryOnly = ValueConversion.boolean(value) ?? false
            case kSecImportExportAccess: access = value
            case kSecUseDataProtectionKeychain: break
            default: ProgramLog.current.warn(.importOptionIgnored(PrintableText("\(key)", maxLength: 100).string))
            }
        }
        self.passphrase = passphrase
        guard !isMemoryOnly, let keychain else {
            self.keychain = nil
            self.access = nil
            return
        }
        guard let known = keychain as? SecKeychain else {
            throw .parameter("kSecImportExportKeychain must be a SecKeychain")
        }
        self.keychain = known
        self.access = access as? SecAccess
        guard access == nil || self.access != nil else {
            throw .parameter("kSecImportExportAccess must be a SecAccess")
        }
    }
}

/// The items of a file: certificates paired with their keys.
private struct PKCS12Items {
    private let file: PKCS12File
    private let certificates: [(certificate: SecCertificate, label: String?)]

    init(_ file: PKCS12File) throws(KeychainError) {
        self.file = file
        certificates = try file.certificates.map { (entry) throws(KeychainError) in
            guard let certificate = try? Certificate(der: entry.der) else {
                throw KeychainError(.decode, "a certificate of the file cannot be read")
            }
            return (SecCertificate(certificate), entry.label)
        }
    }

    func dictionaries() throws(KeychainError) -> [NSDictionary] {
        guard !file.keys.isEmpty else {
            let chain = certificates.map(\.certificate)
            return chain.isEmpty ? [] : [NSDictionary(dictionary: [kSecImportItemCertChain: chain])]
        }
        let byKey = Dictionary(certificates.map { ($0.certificate.body.publicKeyHash, $0) }) { first, _ in first }
        let all = certificates.map(\.certificate)
        var items: [NSDictionary] = []
        var seen: Set<[UInt8]> = []
        for key in file.keys {
            let label = try key.key.publicKey.applicationLabel()
            // The same key again is the same identity.
            guard seen.insert(label).inserted, let own = byKey[label] else { continue }
            items.append(dictionary(key, label, own.certificate, own.label, all))
        }
        return items
    }

    /// The identities of the results, and the other certificates of the file.
    func objects(of dictionaries: [NSDictionary]) -> [NSObject] {
        let identities = dictionaries.compactMap { $0[kSecImportItemIdentity] as? SecIdentity }
        let own = Set(identities.map(\.certificate))
        let others = certificates.map(\.certificate).filter { !own.contains($0) }
        return (identities as [NSObject]) + (others as [NSObject])
    }

    private func dictionary(
        _ key: PKCS12File.KeyEntry, _ keyLabel: [UInt8], _ certificate: SecCertificate, _ label: String?,
        _ all: [SecCertificate]
    ) -> NSDictionary {
        let trust = SecTrust([certificate] + all, [SecPolicyCreateBasicX509()])
        var item: [CFString: Any] = [
            kSecImportItemIdentity: SecIdentity(certificate, SecKey(.inMemory(key.key))), kSecImportItemTrust: trust,
            kSecImportItemKeyID: Data(key.localKeyID ?? keyLabel),
            kSecImportItemCertChain: chain(from: certificate, all),
        ]
        item[kSecImportItemLabel] = key.label ?? label
        return NSDictionary(dictionary: item)
    }

    /// The certificate, followed by those certificates of the file that are above it by name.
    private func chain(from certificate: SecCertificate, _ others: [SecCertificate]) -> [SecCertificate] {
        var chain = [certificate]
        while chain.count < 12, let last = chain.last, !last.body.isSelfIssued,
            let next = others.first(where: { $0.body.subject.matches(last.body.issuer) && !chain.contains($0) })
        { chain.append(next) }
        return chain
    }
}
