// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// The key commands as scripts use them, together with openssl; embedded and through latchkeyd.
@Suite("Key commands")
struct KeyCommandTests {
    /// A separate keychain, and files in the same directory.
    private final class KeychainFixture {
        let directory: TemporaryDirectory
        let daemon: DaemonProcess?
        private let tool: OpenSSL

        init(throughDaemon: Bool) throws {
            let daemon = throughDaemon ? try DaemonProcess() : nil
            self.daemon = daemon
            directory = try daemon?.directory ?? TemporaryDirectory()
            tool = try OpenSSL()
        }

        func path(_ name: String) -> String { "\(directory.path)/\(name)" }

        func file(_ name: String, _ text: String) throws -> String {
            try Data(text.utf8).write(to: URL(filePath: path(name)))
            chmod(path(name), 0o600)
            return path(name)
        }

        func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

        @discardableResult
        func latchkey(_ words: String..., input: String? = nil) throws -> Executable.Outcome {
            if let daemon { return try daemon.client("latchkey", words, input: input) }
            return try Executable.run(
                "latchkey", words, home: "\(directory.path)/home", environment: ["XDG_RUNTIME_DIR": directory.path],
                input: input)
        }

        func openssl(_ words: String...) throws -> OpenSSL.Outcome { try tool.run(words) }
    }

    @Test(
        "Signatures and ciphertexts of the keychain's keys and of openssl are interchangeable", .long,
        arguments: [false, true])
    func operations(_ throughDaemon: Bool) throws {
        let fixture = try KeychainFixture(throughDaemon: throughDaemon)
        let message = try fixture.file("message", "a message\n")
        for (type, size, algorithm) in [
            ("rsa", "2048", "rsa-pss-sha256"), ("ec", "256", "ES256"), ("ec", "384", "ecdsa-sha384"),
        ] {
            let tag = "com.example.\(type)\(size)"
            #expect(try fixture.latchkey("key", "generate", "--tag", tag, "--type", type, "--size", size).status == 0)
            #expect(try fixture.latchkey("key", "public", "--tag", tag, "-o", fixture.path("\(tag).pem")).status == 0)
            // The default algorithm of each type is the one that `openssl dgst` verifies.
            #expect(
                try fixture.latchkey("key", "sign", "--tag", tag, "-o", fixture.path("\(tag).sig"), message).status == 0
            )
            let verdict = try fixture.openssl(
                "dgst", "-sha256", "-verify", fixture.path("\(tag).pem"), "-signature", fixture.path("\(tag).sig"),
                message)
            #expect(verdict.status == 0)
            // Every other algorithm, in both directions.
            let signature = fixture.path("\(tag).other")
            #expect(
                try fixture.latchkey("key", "sign", "--tag", tag, "-a", algorithm, "-o", signature, message).status == 0
            )
            #expect(
                try fixture.latchkey(
                    "key", "verify", "--key-file", fixture.path("\(tag).pem"), "-a", algorithm, "-s", signature, message
                ).status
                    == 0)
            let other = try fixture.latchkey("key", "verify", "--tag", tag, "-s", signature, message)
            #expect(other.status != 0 && other.error.contains("the signature is not valid for this key"), "\(other)")
            let cipher = fixture.path("\(tag).bin")
            #expect(
                try fixture.latchkey("key", "encrypt", "--key-file", fixture.path("\(tag).pem"), "-o", cipher, message)
                    .status == 0)
            #expect(try fixture.latchkey("key", "decrypt", "--tag", tag, cipher).output == "a message\n")
        }
        for hash in ["sha1", "sha256"] {
            let key = fixture.path("com.example.rsa2048.pem")
            let encrypted = try fixture.openssl(
                "pkeyutl", "-encrypt", "-pubin", "-inkey", key, "-in", message, "-pkeyopt", "rsa_padding_mode:oaep",
                "-pkeyopt",
                "rsa_oaep_md:\(hash)", "-pkeyopt", "rsa_mgf1_md:\(hash)", "-out", fixture.path("theirs"))
            #expect(encrypted.status == 0)
            let opened = try fixture.latchkey(
                "key", "decrypt", "--tag", "com.example.rsa2048", "-a", "oaep-\(hash)", fixture.path("theirs"))
            #expect(opened.output == "a message\n", "\(opened)")
        }
    }

    @Test(
        "Keys are imported and exported in every format; keys that are not extractable are skipped and named",
        arguments: [false, true])
    func transfer(_ throughDaemon: Bool) throws {
        let fixture = try KeychainFixture(throughDaemon: throughDaemon)
        #expect(
            try fixture.openssl(
                "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", fixture.path("rsa.pem")
            ).status == 0)
        #expect(
            try fixture.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", fixture.path("ec.pem"))
                .status == 0)
        let passphrase = try fixture.file("passphrase", "a passphrase\n")
        #expect(
            try fixture.openssl(
                "pkcs8", "-topk8", "-in", fixture.path("ec.pem"), "-passout", "file:\(passphrase)", "-out",
                fixture.path("sealed.pem")
            ).status == 0)
        #expect(try fixture.latchkey("import", fixture.path("rsa.pem"), "--tag", "rsa").output == "1 key imported.\n")
        #expect(
            try fixture.latchkey(
                "import", fixture.path("sealed.pem"), "--passphrase-file", passphrase, "--tag", "ec", "-x"
            ).output
                == "1 key imported.\n")
        #expect(
            try fixture.latchkey("import", fixture.path("rsa.pem"), "--tag", "rsa", "-a", "kSecAttrLabel", "x").status
                == 45)
        #expect(try fixture.latchkey("import", fixture.path("sealed.pem"), "-P", "another").status != 0)
        #expect(try fixture.latchkey("import", passphrase).status != 0)
        let original = try fixture.openssl("pkey", "-in", fixture.path("rsa.pem"), "-outform", "DER").output
        for (format, inform) in [("openssl", "PEM"), ("pkcs8", "PEM"), ("bsafe", "DER")] {
            let file = fixture.path("out.\(format)")
            let outcome = try fixture.latchkey("export", "-t", "privKeys", "--tag", "rsa", "-f", format, "-o", file)
            #expect(outcome.status == 0 && outcome.error.contains("bytes written to"), "\(outcome)")
            #expect(try fixture.openssl("pkey", "-in", file, "-inform", inform, "-outform", "DER").output == original)
            let info = try FileManager.default.attributesOfItem(atPath: file)
            #expect(info[.posixPermissions] as? Int == 0o600)
            #expect(
                try fixture.latchkey("export", "-t", "privKeys", "--tag", "rsa", "-f", format, "-o", file).status != 0,
                "it exists")
        }
        let sealed = try fixture.latchkey(
            "export", "-t", "privKeys", "--tag", "rsa", "-w", "--passphrase-file", passphrase, "-o",
            fixture.path("s.pem"))
        #expect(sealed.status == 0)
        #expect(
            try fixture.openssl(
                "pkey", "-in", fixture.path("s.pem"), "-passin", "file:\(passphrase)", "-outform", "DER"
            ).output == original)
        let refused = try fixture.latchkey("export", "-t", "privKeys", "--tag", "ec")
        #expect(
            refused.status == 44 && refused.output.isEmpty && refused.error.contains("extractable: ec"), "\(refused)")
        #expect(
            try fixture.latchkey("key", "sign", "--tag", "ec", "-o", fixture.path("ec.sig"), passphrase).status == 0)
    }

    @Test(
        "Keys are created, found, listed and deleted with macOS's commands and with latchkey's", .long,
        arguments: [false, true])
    func lifecycle(_ throughDaemon: Bool) throws {
        let fixture = try KeychainFixture(throughDaemon: throughDaemon)
        #expect(try fixture.latchkey("create-keypair", "-a", "ec", "--tag", "pair", "A pair").status == 0)
        #expect(
            try fixture.latchkey("find-key", "-l", "A pair").output.components(separatedBy: "keychain: ").count == 3)
        let found = try fixture.latchkey("find-key", "-t", "private", "-s", "-l", "A pair").output
        #expect(
            found.components(separatedBy: "keychain: ").count == 2 && found.contains("0x00000001 <blob>=\"A pair\""),
            "\(found)")
        #expect(try fixture.latchkey("set-key-partition-list", "-S", "apple:", "-s", "-k", "x").status == 0)
        #expect(try fixture.latchkey("find-key", "-l", "None").status == 44)
        #expect(try fixture.latchkey("find-key", "-t", "other").status != 0)
        let list = try fixture.latchkey("key", "list").output
        #expect(list == "P-256\tprivate\tpair\tlatchkey.shared\nP-256\tpublic\tpair\tlatchkey.shared\n", "\(list)")
        #expect(try fixture.latchkey("key", "list", "--json").output.contains("\"applicationLabel\" : \""))
        let dry = try fixture.latchkey("key", "delete", "--tag", "pair", "--dry-run")
        #expect(dry.status == 0 && dry.error.contains("would delete"))
        #expect(try fixture.latchkey("delete-key", "-l", "A pair").status != 0, "two match")
        #expect(try fixture.latchkey("delete-key").status == 2)
        #expect(try fixture.latchkey("delete-key", "-t", "private", "-l", "A pair").status == 0)
        #expect(try fixture.latchkey("key", "delete", "--tag", "pair").status == 0)
        #expect(try fixture.latchkey("key", "list").output.isEmpty)
        #expect(try fixture.latchkey("create-keypair", "-a", "dsa", "x").status != 0)
        // Two key pairs with one tag are distinguished, and not deleted together by mistake.
        for _ in 0..<2 { #expect(try fixture.latchkey("key", "generate", "--tag", "twice").status == 0) }
        let twice = try fixture.latchkey("key", "delete", "--tag", "twice")
        #expect(twice.status != 0 && twice.error.contains("2 pairs"), "\(twice)")
        let labels = try fixture.latchkey("key", "list", "--json").output.matches(
            of: /"applicationLabel" : "([0-9a-f]{40})"/
        ).map {
            String($0.1)
        }
        #expect(labels.count == 2)
        #expect(try fixture.latchkey("key", "delete", "--tag", labels[0]).status == 0)
        #expect(
            try fixture.latchkey("key", "sign", "--tag", labels[1], "-o", fixture.path("twice.sig"), "/dev/null").status
                == 0)
        #expect(try fixture.latchkey("key", "delete", "--tag", "twice", "--all").status == 0)
        #expect(try fixture.latchkey("key", "sign", "--key-file", "-", "-").status == 2)
        for size in ["-1", "abc", "99999999999"] {
            #expect(try fixture.latchkey("create-keypair", "-s", size, "x").status != 0)
        }
        #expect(try fixture.latchkey("create-keypair", "-s", "504", "x").status != 0)
        #expect(try fixture.latchkey("key", "generate", "--tag", "x", "--size", "1000").status != 0)
        #expect(try fixture.latchkey("key", "sign", "--tag", "x", "-a", "none", "/dev/null").status != 0)
    }

    @Test(
        "For weak RSA keys create-keypair and import warn, key generate refuses, and key list marks them",
        arguments: [false, true])
    func weak(_ throughDaemon: Bool) throws {
        let fixture = try KeychainFixture(throughDaemon: throughDaemon)
        let made = try fixture.latchkey("create-keypair", "-s", "512", "--tag", "small", "x")
        #expect(made.status == 0 && made.error.contains("less than 2048 bits"), "\(made)")
        let refused = try fixture.latchkey("key", "generate", "--tag", "smaller", "--type", "rsa", "--size", "2040")
        #expect(refused.status != 0 && refused.error.contains("at least 2048 bits, not 2040"), "\(refused)")
        let list = try fixture.latchkey("key", "list").output
        #expect(
            list == "RSA-512\tprivate\tsmall\tlatchkey.shared\tweak\nRSA-512\tpublic\tsmall\tlatchkey.shared\tweak\n",
            "\(list)")
        #expect(try fixture.latchkey("key", "list", "--json").output.contains("\"isWeak\" : true"))
    }

    @Test(
        "A key that is not extractable is left out of a backup and named, unless it is requested", .long,
        arguments: [false, true])
    func backup(_ throughDaemon: Bool) throws {
        let fixture = try KeychainFixture(throughDaemon: throughDaemon)
        let passphrase = try fixture.file("phrase", "the backup's own passphrase\n")
        #expect(try fixture.latchkey("key", "generate", "--tag", "com.example.stays", "--not-extractable").status == 0)
        #expect(try fixture.latchkey("key", "generate", "--tag", "com.example.goes").status == 0)
        let without = try fixture.latchkey("backup", "--passphrase-file", passphrase, fixture.path("without"))
        #expect(without.status == 0 && without.output.contains("saved:        1,"), "\(without)")
        #expect(
            without.output.contains("left out:     1 that are not extractable")
                && without.output.contains("com.example.stays"),
            "\(without)")
        let with = try fixture.latchkey(
            "backup", "--include-non-extractable", "--passphrase-file", passphrase, fixture.path("with"))
        #expect(
            with.status == 0 && with.output.contains("saved:        2,") && !with.output.contains("left out"), "\(with)"
        )
        let json = try fixture.latchkey("backup", "--json", "--passphrase-file", passphrase, fixture.path("json"))
        #expect(json.output.contains("\"notExtractable\" : 1"), "\(json)")
    }
}
