// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust
internal import KeychainModel
package import LinuxSystem
internal import SecretMemory

/// Reads the certificate files that a command line names.
package enum CertificateFiles {
    /// Returns all certificates of the files, in order: any number in PEM, or one in DER. Warns of parts
    /// of a file that were skipped, although they may be certificates.
    ///
    /// - Throws: errSecDecode if a file contains no certificate, or one that cannot be read.
    package static func read(_ paths: [FilePath], in session: CommandSession) throws(CommandFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let bundle = try bundle(path, in: session)
            if let rejected = bundle.rejected.first { throw unreadable(rejected, path) }
            certificates += bundle.certificates
        }
        return certificates
    }

    /// Returns the certificates that a server presented: the leaf, and others that help to find a
    /// chain. Other certificates that cannot be read are skipped with a warning.
    ///
    /// - Throws: errSecDecode if the leaf cannot be read, or if a file contains no certificate.
    static func presented(_ paths: [FilePath], in session: CommandSession) throws(CommandFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let bundle = try bundle(path, in: session)
            for rejected in bundle.rejected {
                guard path != paths.first || rejected.index > 0 else { throw unreadable(rejected, path) }
                session.warn("skipped \(rejected.place) of \(path): \(rejected.error)")
            }
            certificates += bundle.certificates
        }
        return certificates
    }

    private static func bundle(_ path: FilePath, in session: CommandSession) throws(CommandFailure) -> CertificateBundle
    {
        let bundle = CertificateBundle(try KeyFileIO.read(path).withUnsafeBytes { Array($0) })
        guard !bundle.certificates.isEmpty || !bundle.rejected.isEmpty else {
            throw .status(KeychainError(.decode, "no certificate found in \(path)", hint: "use PEM or DER"))
        }
        for note in bundle.notes { session.warn("\(path), \(note)") }
        return bundle
    }

    private static func unreadable(_ rejected: CertificateBundle.Rejection, _ path: FilePath) -> CommandFailure {
        .status(KeychainError(.decode, "\(rejected.place) of \(path) cannot be read: \(rejected.error)"))
    }
}
