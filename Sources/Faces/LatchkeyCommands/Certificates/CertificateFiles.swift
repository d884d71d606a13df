// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import SecretMemory

/// The certificates of files that a command line names.
enum CertificateFiles {
    /// All certificates of the files, in their order: PEM of any number, or one in DER.
    ///
    /// - Throws: errSecDecode where a file holds none, or one that cannot be read.
    static func read(_ paths: [String]) throws(CommandFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let bundle = try bundle(path)
            if let (index, error) = bundle.rejected.first { throw unreadable(index, path, error) }
            certificates += bundle.certificates
        }
        return certificates
    }

    /// What a server presented: the certificate to be judged, and others that help to find a chain. Of these, those that cannot be read are
    /// passed over.
    ///
    /// - Parameter note: receives a sentence for each that is passed over.
    /// - Throws: errSecDecode where the first cannot be read, or a file holds none.
    static func presented(_ paths: [String], note: (String) -> Void) throws(CommandFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let bundle = try bundle(path)
            for (index, error) in bundle.rejected {
                guard path != paths.first || index > 0 else { throw unreadable(index, path, error) }
                note("certificate \(index + 1) of \(path) is passed over: \(error)")
            }
            certificates += bundle.certificates
        }
        return certificates
    }

    private static func bundle(_ path: String) throws(CommandFailure) -> CertificateBundle {
        let bundle = CertificateBundle(try KeyFileIO.read(path).withUnsafeBytes { Array($0) })
        guard !bundle.certificates.isEmpty || !bundle.rejected.isEmpty else {
            throw .status(KeychainError(.decode, "there is no certificate in \(path)", hint: "PEM or DER is read"))
        }
        return bundle
    }

    private static func unreadable(_ index: Int, _ path: String, _ error: CertificateError) -> CommandFailure {
        .status(KeychainError(.decode, "certificate \(index + 1) of \(path) cannot be read: \(error)"))
    }
}
