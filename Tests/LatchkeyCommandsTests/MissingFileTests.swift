// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// A file that the command line names and that does not exist: the keychain is not to blame.
@Suite("Missing files")
struct MissingFileTests {
    @Test(
        "A missing file that the user named is a failure to read it, and not one of the keychain",
        arguments: [
            "cat FILE", "edit FILE", "protect move --to-keychain s/a FILE", "recovery-key use --key-file FILE",
            "backup --passphrase-file FILE b", "restore FILE --passphrase-file PHRASE", "certificate inspect FILE",
            "trust explain FILE", "ats lint FILE",
        ])
    func named(line: String) throws {
        let (keychain, directory) = (try TestKeychain(.onDisk), try TemporaryDirectory())
        defer { withExtendedLifetime(directory) {} }
        let (file, phrase) = ("\(directory.path)/missing", "\(directory.path)/phrase")
        try Data("correct horse battery staple".utf8).write(to: URL(filePath: phrase))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: phrase)
        let words = line.replacingOccurrences(of: "FILE", with: file).replacingOccurrences(of: "PHRASE", with: phrase)
        let outcome = keychain.latchkey("-v \(words)")
        #expect(outcome.exit == 220 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.error.contains(file) && outcome.error.hasSuffix("errSecIO (-36) [LK1403]\n"), "\(outcome)")
    }

    @Test("protect reports a missing file with the same exit value")
    func batch() throws {
        let (keychain, directory) = (try TestKeychain(.onDisk), try TemporaryDirectory())
        for line in ["protect --class complete", "unprotect", "protect status"] {
            let outcome = keychain.latchkey("\(line) \(directory.path)/missing")
            #expect(outcome.exit == 220, "\(line): \(outcome)")
        }
    }
}
