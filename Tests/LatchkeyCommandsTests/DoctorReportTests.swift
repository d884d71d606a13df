// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// `latchkey doctor --report`, `latchkey doctor --upgrade-check` and `LATCHKEY_LOG=debug`.
@Suite("Report for a question")
struct DoctorReportTests {
    /// A word that no other text has.
    private static let marker = "mArKeR"

    @Test("The report has version, machine, mode, lock, counts and findings")
    func contents() throws {
        let keychain = try TestKeychain(.onDisk)
        keychain.latchkey("set example.com/alice", io: TestIO(input: ["s3cret"]))
        let outcome = keychain.latchkey("doctor --report")
        #expect(outcome.exit == 0 && outcome.error.isEmpty)
        for line in [
            "report:     1, without secrets",
            "version:    \(LatchkeyVersion.current)\n",
            "keychain:   mode embedded, root file", "lock:       unlocked, passcode no",
            "items:      1 genp complete\n", "finding:    ok     rows\n",
        ] {
            #expect(outcome.output.contains(line), "\(line): \(outcome.output)")
        }
        let text = Data(keychain.latchkey("doctor --report --json").output.utf8)
        let json = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        #expect(json["report"] as? Int == 1 && json["version"] as? String == LatchkeyVersion.current)
    }

    @Test("A keychain that does not open is reported with the identifier of the error, without its problem")
    func unopened() {
        let service = FailingService(error: KeychainError(.notAvailable, "cannot open /\(Self.marker)", hint: "x"))
        let outcome = security("doctor --report", as: "latchkey", on: service)
        #expect(outcome.exit == 0 && outcome.output.contains("error:      LK1401 errSecNotAvailable\n"))
        #expect(outcome.output.contains("finding:    WRONG  keychain\n") && !outcome.output.contains(Self.marker))
    }

    @Test("Of all that a keychain, a home and an environment hold, the report and the debug log have nothing", .long)
    func markers() throws {
        let shell = try MarkedShell(Self.marker)
        let filled = try shell.run(
            """
            set -e
            m=\(Self.marker)
            printf %s "secret-$m" | latchkey set "service-$m/account-$m" --label "label-$m" --comment "comment-$m"
            security add-internet-password -a "user-$m" -s "server-$m" -p "path-$m" -P 8443 -r htps -w "web-$m" \\
                -l "weblabel-$m" -D "kind-$m" -j "note-$m"
            security create-keypair -a ec --tag "tag-$m" "key-$m"
            latchkey collection create "collection-$m"
            security create-keychain -p "passphrase-$m" "keychain-$m"
            printf '%s\\n' "passcode-$m" > "$PASS"; chmod 600 "$PASS"
            latchkey passcode set --passcode-file "$PASS"
            """)
        #expect(filled.exit == 0, "\(filled)")
        for command in [
            "latchkey doctor --report", "latchkey doctor --report --json",
            "latchkey doctor --report --passcode-file \"$PASS\"",
            "latchkey -k keychain-\(Self.marker) doctor --report", "latchkey doctor --upgrade-check > /dev/null",
            "latchkey get --reveal service-$M/account-$M --passcode-file \"$PASS\" > /dev/null",
            "latchkey get none-\(Self.marker) 2>&1 > /dev/null | grep '^latchkey\\['",
            "security find-generic-password -s \(Self.marker) -a \(Self.marker) 2>&1 | grep '^latchkey\\['",
            "latchkey list > /dev/null", "latchkey \(Self.marker) 2>&1 | grep '^latchkey\\['",
        ] {
            let outcome = try shell.run("export LATCHKEY_LOG=debug M=\(Self.marker); \(command)")
            let said = outcome.output + outcome.error
            #expect(said.contains("] debug: "), "\(command): \(said)")
            for word in [Self.marker, Self.marker.lowercased(), shell.path] {
                #expect(!said.contains(word), "\(command) says \(word): \(said)")
            }
        }
        // The search finds the marker where it is present.
        #expect(try shell.run("latchkey list --passcode-file \"$PASS\"").output.contains(Self.marker))
    }

    @Test(
        "Without LATCHKEY_LOG=debug nothing is logged, also with another value", arguments: ["", "info", "DEBUG", "1"])
    func silent(_ value: String) throws {
        let outcome = try Shell().run("LATCHKEY_LOG='\(value)' latchkey status")
        #expect(outcome.exit == 0 && outcome.error.isEmpty)
    }

    @Test("--upgrade-check shows the formats of an earlier keychain, and leaves them as they are")
    func upgrade() throws {
        let shell = try Shell()
        let empty = try shell.run("latchkey doctor --upgrade-check")
        #expect(empty.exit == 0 && empty.output.hasPrefix("no keychain of this user"))
        try Self.copyVector("keychain-v1", to: "\(shell.directory.path)/home")
        for _ in 1...2 {
            let outcome = try shell.run("latchkey doctor --upgrade-check")
            #expect(outcome.exit == 0)
            #expect(
                outcome.output == """
                    keychain login
                      database           format 1: becomes 4 when the keychain is opened for writing, and unlocked
                      keybag             format 1: becomes 3 when the keychain is opened for writing, and unlocked
                    hint: latchkey backup FILE, before \(LatchkeyVersion.current) opens it; then it needs 0.1.0 or newer

                    """)
        }
        #expect(try shell.run("latchkey list > /dev/null").exit == 0)
        let after = try shell.run("latchkey doctor --upgrade-check")
        #expect(after.output.contains("database           format 4: stays as it is\n"))
        #expect(after.output.hasSuffix("nothing is converted; it is opened by 0.1.0 and newer\n"))
        let json = try shell.run("latchkey doctor --upgrade-check --json").output
        #expect(json.contains(#""readable" : true"#) && json.contains(#""upgrades" : false"#))
    }

    @Test("--upgrade-check names the files of a newer version, and fails")
    func newer() throws {
        let shell = try Shell()
        let home = "\(shell.directory.path)/home"
        try Self.copyVector("keychain-v1", to: home)
        // user_version is at offset 60 of the file.
        let path = "\(home)/data/keychain.db"
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[63] = 99
        try bytes.write(to: URL(filePath: path))
        let outcome = try shell.run("latchkey doctor --upgrade-check")
        #expect(outcome.exit == 1)
        #expect(outcome.output.contains("format 99: NEWER than this program reads (4)"))
        #expect(outcome.output.hasSuffix("a newer version has written this: update latchkey\n"))
    }

    @Test("--report, --upgrade-check and --repair exclude each other")
    func exclusive() throws {
        let keychain = try TestKeychain(.ephemeral)
        for line in ["--report --upgrade-check", "--report --repair", "--upgrade-check --empty-quarantine"] {
            #expect(keychain.latchkey("doctor \(line)").exit == 2, "\(line)")
        }
    }

    private static func copyVector(_ name: String, to home: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../KeychainStoreTests/Vectors/\(name)")
        for (file, directory) in [("keychain.db", "data"), ("device.key", "state")] {
            let place = "\(home)/\(directory)"
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let content = try Data(contentsOf: folder.appending(path: file))
            _ = FileManager.default.createFile(
                atPath: "\(place)/\(file)", contents: content, attributes: [.posixPermissions: 0o600])
        }
    }
}

/// A shell with a marker in its user, home and host names.
private struct MarkedShell {
    private let shell: Shell
    private let marker: String

    var path: String { shell.directory.path }

    init(_ marker: String) throws {
        shell = try Shell()
        self.marker = marker
        try FileManager.default.createDirectory(
            atPath: "\(shell.directory.path)/\(marker)", withIntermediateDirectories: true)
    }

    func run(_ script: String) throws -> Outcome {
        let home = "\(path)/\(marker)"
        return try shell.run(
            """
            export HOME='\(home)' LATCHKEY_HOME='\(home)/keychains' PASS='\(home)/pass' USER='\(marker)' \
                LOGNAME='\(marker)' HOSTNAME='\(marker)' XDG_CURRENT_DESKTOP='\(marker)' SHELL='/bin/\(marker)' \
                XDG_DATA_HOME='\(home)/data' TERM='\(marker)'
            \(script)
            """)
    }
}
