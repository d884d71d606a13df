// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing
import TPMTesting

/// Executables on a machine without the libraries that few calls need (Foundations/CLoadedLibraries). The files of the
/// libraries are hidden in a mount namespace.
@Suite(
    "Missing libraries",
    .enabled(if: canHideFiles(), "needs unshare(1) and mount namespaces"))
struct MissingLibraryTests {
    private let directory: TemporaryDirectory
    private var home: String { "\(directory.path)/home" }

    init() throws { directory = try TemporaryDirectory() }

    @Test("Without tpm2-tss the device key is not moved to a TPM, and the error names the package")
    func tpm() throws {
        let tpm = try SoftwareTPM()
        #expect(try latchkey(["status"], without: "libtss2-esys.so.0").status == 0)
        let outcome = try latchkey(["root", "tpm"], without: "libtss2-esys.so.0", ["LATCHKEY_TPM": tpm.addressText])
        #expect(outcome.status != 0 && outcome.error.contains("tpm2-tss cannot be opened: "), "\(outcome)")
        #expect(outcome.error.contains("hint: install tpm2-tss"), "\(outcome)")
        #expect(try latchkey(["root", "show"], without: "libtss2-mu.so.0").output.contains("file"))
    }

    @Test("A keychain with its device key in a TPM is not opened without tpm2-tss, and opens again with it")
    func opened() throws {
        let tpm = try SoftwareTPM()
        let environment = ["LATCHKEY_TPM": tpm.addressText]
        #expect(try latchkey(["set", "s/a"], environment, input: "s3cret").status == 0)
        #expect(try latchkey(["root", "tpm"], environment).status == 0)
        for library in ["libtss2-esys.so.0", "libtss2-mu.so.0"] {
            let outcome = try latchkey(["get", "--reveal", "s/a"], without: library, environment)
            #expect(outcome.status != 0 && outcome.output.isEmpty, "\(outcome)")
            #expect(outcome.error.contains("tpm2-tss cannot be opened: "), "\(outcome)")
        }
        #expect(try latchkey(["get", "--reveal", "s/a"], environment).output == "s3cret")
    }

    @Test("Without libfido2 no security key is enrolled, and the error names the package")
    func securityKey() throws {
        let passcode = "\(directory.path)/passcode"
        try Data("the passcode".utf8).write(to: URL(filePath: passcode))
        try #require(chmod(passcode, 0o600) == 0)
        #expect(try latchkey(["passcode", "set", "--passcode-file", passcode]).status == 0)
        let outcome = try latchkey(
            ["security-key", "enroll", "--passcode-file", passcode, "blue"], without: "libfido2.so.1")
        #expect(outcome.status != 0 && outcome.error.contains("libfido2 cannot be opened: "), "\(outcome)")
        #expect(outcome.error.contains("hint: install libfido2"), "\(outcome)")
    }

    @Test("Without libsystemd no other keyring is imported, and everything else works")
    func bus() throws {
        let bus = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory.path)/bus"]
        let library = "libsystemd.so.0"
        #expect(try latchkey(["set", "s/a"], without: library, bus, input: "s3cret").status == 0)
        let status = try latchkey(["status"], without: library, bus)
        #expect(status.status == 0 && status.output.contains("libsystemd cannot be opened: "), "\(status)")
        let outcome = try latchkey(["import", "--from", "gnome-keyring"], without: library, bus)
        #expect(outcome.status != 0 && outcome.error.contains("libsystemd cannot be opened: "), "\(outcome)")
    }

    // MARK: Helpers

    private func latchkey(
        _ words: [String], without library: String? = nil, _ environment: [String: String] = [:], input: String? = nil
    ) throws -> Executable.Outcome {
        guard let library else {
            return try Executable.run("latchkey", words, home: home, environment: environment, input: input)
        }
        return try Executable.run(
            "/usr/bin/unshare", ["-rm", "sh", "-c", Self.hide, library, Executable.path("latchkey")] + words,
            home: home, environment: environment, input: input)
    }

    /// Hides every file of the library, and runs the command.
    private static let hide = """
        for file in $(ldconfig -p 2> /dev/null || /sbin/ldconfig -p); do
            case $file in */$0) mount --bind /dev/null "$file" || exit 99 ;; esac
        done
        exec "$@"
        """
}

private func canHideFiles() -> Bool {
    (try? Executable.run("/usr/bin/unshare", ["-rm", "true"], home: ""))?.status == 0
}
