// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
public import KeychainTesting

/// A maker of TPMs, with an authority that issues their certificates: swtpm_localca.
public final class TPMMaker: Sendable {
    public static let isInstalled =
        SoftwareTPM.isInstalled && access("/usr/bin/swtpm_setup", X_OK) == 0 && access("/usr/bin/certtool", X_OK) == 0

    public let directory: TemporaryDirectory

    public init() throws {
        directory = try TemporaryDirectory()
        let path = directory.path
        let authority = "\(path)/ca"
        try FileManager.default.createDirectory(atPath: authority, withIntermediateDirectories: false)
        let files = [
            "setup.conf": """
            create_certs_tool=/usr/bin/swtpm_localca
            create_certs_tool_config=\(path)/localca.conf
            create_certs_tool_options=\(path)/localca.options

            """,
            "localca.conf": """
            statedir = \(authority)
            signingkey = \(authority)/signkey.pem
            issuercert = \(authority)/issuercert.pem
            certserial = \(authority)/certserial

            """,
            "localca.options": "--platform-manufacturer Example\n--platform-version 1\n--platform-model Example\n",
        ]
        for (name, text) in files { try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8) }
    }

    /// Gives a key and its certificate to the TPM that has its memory in this directory.
    func setUp(_ state: String) throws {
        let outcome = try Executable.run(
            "/usr/bin/swtpm_setup",
            ["--tpm2", "--tpmstate", "dir://\(state)", "--create-ek-cert", "--config", "\(directory.path)/setup.conf"],
            home: directory.path)
        guard outcome.status == 0 else { throw SoftwareTPM.NotListening() }
    }

    /// The file of the certificate that verifies those of the TPMs.
    public var issuer: String { "\(directory.path)/ca/issuercert.pem" }
    /// The file of the certificate that verifies the issuer's.
    public var root: String { "\(directory.path)/ca/swtpm-localca-rootca-cert.pem" }
}
