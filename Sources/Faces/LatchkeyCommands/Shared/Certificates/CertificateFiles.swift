// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust
internal import KeychainModel
internal import SecretMemory

/// Reads the certificate files that a command line names.
package enum CertificateFiles {
    /// Returns all certificates of the files, in order: any number in PEM, or one in DER.
    ///
    /// - Throws: errSecDecode if a file contains no certificate, or one that cannot be read.
    package static func read(_ paths: [String]) throws(CommandFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let bundle = try bundle(path)
            if let (index, error) = bundle.rejected.first { throw unreadable(index, path, error) }
            certificates += bundle.certificates
        }
        return certificates
    }

    /// Returns the certificates that a server presented: the leaf, and others that help to find a
    /// chain. Other certificates that cannot be read are skipped.
    ///
    /// - Parameter note: receives a sentence for each skipped certificate.
    /// - Throws: errSecDecode if the leaf cannot be read, or if a file contains no certificate.
    static func presented(_ paths: [String], note: (String) -> Void) throws(CommandFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let bundle = try bundle(path)
            for (index, error) in bundle.rejected {
                guard path != paths.first || index > 0 else { throw unreadable(index, path, error) }
                note("skipped certificate \(index + 1) of \(path): \(error)")
            }
            certificates += bundle.certificates
        }
        return certificates
    }

    private static func bundle(_ path: String) throws(CommandFailure) -> CertificateBundle {
        let bundle = CertificateBundle(try KeyFileIO.read(path).withUnsafeBytes { Array($0) })
        guard !bundle.certificates.isEmpty || !bundle.rejected.isEmpty else {
            throw .status(KeychainError(.decode, "no certificate found in \(path)", hint: "use PEM or DER"))
        }
        return bundle
    }

    private static func unreadable(_ index: Int, _ path: String, _ error: CertificateError) -> CommandFailure {
        .status(KeychainError(.decode, "certificate \(index + 1) of \(path) cannot be read: \(error)"))
    }
}
