// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// Selects a certificate by its common name or its hash.
struct CertificateSelector {
    static let options =
        [
            CommandOption("-c", .required("name"), help: "part of the common name, case-insensitive"),
            CommandOption("-Z", .required("hash"), help: "SHA-1 or SHA-256 of the certificate, in hexadecimal"),
            CommandOption("-t", help: "accepted; trust settings are removed by remove-trusted-cert"),
        ] + CommandOption.passcode

    private let name: String?
    private let hash: String?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        (name, hash) = (arguments["-c"]?.text.lowercased(), arguments["-Z"]?.text.lowercased())
        guard name != nil || hash != nil else { throw .usage("-c or -Z is required") }
    }

    /// Returns the selected certificate.
    ///
    /// - Throws: a line and exit value 1 if there is none, or if there are several.
    func one<Found>(
        of all: [Found], certificate stored: (Found) -> CertificateItems.StoredCertificate
    ) throws(CommandFailure) -> Found {
        let matching = all.filter { found in
            let certificate = stored(found).certificate
            let isNamed = name.map { (certificate.commonName ?? "").lowercased().contains($0) } ?? true
            let hashes = [Hexadecimal.text(certificate.sha1), Hexadecimal.text(certificate.sha256)]
            return isNamed && (hash.map(hashes.contains) ?? true)
        }
        let wanted = hash ?? name ?? ""
        guard let first = matching.first else { throw .line("Unable to delete certificate matching \"\(wanted)\"") }
        let identifier = stored(first).record.identifier
        guard matching.allSatisfy({ stored($0).record.identifier == identifier }) else {
            throw .line("Unable to delete: \(matching.count) certificates match \"\(wanted)\"; -Z selects one of them")
        }
        return first
    }

    static func delete(
        _ records: [ItemRecord], from keychain: KeychainSession
    ) throws(CommandFailure) {
        for record in records {
            let item = ItemQuery(
                record.itemClass, synchronizable: .any, persistentReference: record.persistentReference)
            try CommandFailure.mapErrors("SecKeychainItemDelete") { () throws(KeychainError) in
                guard try keychain.delete(item) > 0 else { throw .itemNotFound }
            }
        }
    }
}
