// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// The identities of a PKCS #12 file, in memory; nothing is stored.
///
/// - Parameters:
///   - options: `kSecImportExportPassphrase`, a string. `kSecImportToMemoryOnly`, `kSecUseDataProtectionKeychain`, `kSecImportExportKeychain` and
///     `kSecImportExportAccess` are accepted and have no effect: nothing is stored. Other options have none either, and are named to the program's
///     logger.
///   - items: receives an array of dictionaries: one for each key with its certificate (`kSecImportItemIdentity`, `…Label`, `…KeyID`,
///     `…CertChain` and `…Trust`), or, where the file holds certificates alone, one with these as `kSecImportItemCertChain`.
/// - Returns: errSecPassphraseRequired where one is needed and none was given, errSecAuthFailed for another one, errSecDecode for what is no such
///   file, errSecParam for a passphrase that is no string, errSecUnimplemented for what is not served.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    status {
        let passphrase = try PKCS12Options(options).passphrase
        // A copy, because the caller's object may be an NSMutableData.
        let data = SharedSecret(
            SecretBytes(copying: UnsafeRawBufferPointer(start: pkcs12_data.bytes, count: pkcs12_data.length)))
        let file = try data.withUnsafeBytes { (bytes) throws(KeychainError) in
            try PKCS12File(reading: bytes, passphrase: passphrase)
        }
        items.pointee = NSArray(array: try PKCS12Items(file).dictionaries())
    }
}

/// What a program gives with a file.
private struct PKCS12Options {
    let passphrase: SharedSecret?

    init(_ options: CFDictionary) throws(KeychainError) {
        var passphrase: SharedSecret?
        for (key, value) in options {
            switch (key as? String).map({ NSString(string: $0) }) {
            case kSecImportExportPassphrase:
                guard let text = value as? String else {
                    throw .parameter("the value of kSecImportExportPassphrase is no string")
                }
                passphrase = SharedSecret(copying: text.utf8)
            case kSecImportToMemoryOnly, kSecUseDataProtectionKeychain, kSecImportExportAccess,
                kSecImportExportKeychain:
                break
            default: ProgramLog.current.warn(.importOptionIgnored(PrintableText("\(key)", maxLength: 100).string))
            }
        }
        self.passphrase = passphrase
    }
}

/// The items of a file, joined.
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
            // A key that is there again is the same identity.
            guard seen.insert(label).inserted, let own = byKey[label] else { continue }
            items.append(dictionary(key, label, own.certificate, own.label, all))
        }
        return items
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

    /// The certificate, and those of the file that are above it by name.
    private func chain(from certificate: SecCertificate, _ others: [SecCertificate]) -> [SecCertificate] {
        var chain = [certificate]
        while chain.count < 12, let last = chain.last, !last.body.isSelfIssued,
            let next = others.first(where: { $0.body.subject.matches(last.body.issuer) && !chain.contains($0) })
        { chain.append(next) }
        return chain
    }
}
