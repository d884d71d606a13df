// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import SecretMemory

/// The certificates of files that a command line names.
enum CertificateFiles {
    /// All certificates of the files, in their order: PEM of any number, or one in DER.
    ///
    /// - Throws: errSecDecode where a file holds none, or one that cannot be read.
    static func read(_ paths: [String], in session: CommandSession) throws(CommandFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths {
            let bytes = try KeyStreams.read(path).withUnsafeBytes { Array($0) }
            let bundle = CertificateBundle(bytes)
            if let (index, error) = bundle.rejected.first {
                throw .status(KeychainError(.decode, "certificate \(index + 1) of \(path) cannot be read: \(error)"))
            }
            guard !bundle.certificates.isEmpty else {
                throw .status(KeychainError(.decode, "there is no certificate in \(path)", hint: "PEM or DER is read"))
            }
            certificates += bundle.certificates
        }
        return certificates
    }
}
