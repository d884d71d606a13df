// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem

/// Private keys, in the forms of the programs that store them.
extension PlantedCorpus {
    static let keys: [Maker] = ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY"].flatMap(pemForms) + otherForms

    private static func pemForms(_ label: String) -> [Maker] {
        [
            maker("\(label) in a file", "server.key") { pem(label, $0.encodedKey()) },
            maker("\(label) in JSON", "account.json") { corpus in
                let key = pem(label, corpus.encodedKey()).replacing("\n", with: "\\n")
                return "{\"type\": \"service\", \"key\": \"\(key)\"}"
            },
            maker("\(label) in YAML", "tls.yaml") { corpus in
                let lines = pem(label, corpus.encodedKey()).split(separator: "\n")
                return "key: |\n" + lines.map { "    \($0)\n" }.joined()
            },
            maker("\(label) in code", "Key.java") { corpus in
                let lines = pem(label, corpus.encodedKey()).split(separator: "\n")
                return "String k = " + lines.map { "\"\($0)\\n\"" }.joined(separator: " +\n    ") + ";\n"
            },
            maker("\(label) in base64", "kubeconfig") { corpus in
                "client-key-data: \(Data(pem(label, corpus.encodedKey()).utf8).base64EncodedString())\n"
            },
        ]
    }

    private static let otherForms: [Maker] = [
        maker("OpenSSH", "id_ed25519") { pem("OPENSSH PRIVATE KEY", $0.openSSHKey()) },
        maker("PuTTY", "me.ppk") { corpus in
            """
            PuTTY-User-Key-File-3: ssh-rsa
            Encryption: none
            Comment: a
            Public-Lines: 1
            AAAA
            Private-Lines: 1
            \(corpus.text(alphanumeric, 60))
            """
        },
        maker("OpenPGP", "secret.asc") { pem("PGP PRIVATE KEY BLOCK", $0.openPGPKey()) },
        { PlantedFile(kind: "key: DER", name: "server.der", bytes: $0.encodedKey(), expected: ["private-key"]) },
    ]

    private static func maker(
        _ title: String, _ name: String, _ write: @escaping @Sendable (inout PlantedCorpus) -> String
    ) -> Maker {
        { PlantedFile(kind: "key: \(title)", name: name, bytes: Array(write(&$0).utf8), expected: ["private-key"]) }
    }

    /// The outer form of PKCS #1, with random numbers.
    private mutating func encodedKey() -> [UInt8] {
        let content: [UInt8] = [2, 1, 0, 2, 0x82, 1, 1, 0] + bytes(256) + [2, 3, 1, 0, 1] + bytes(300)
        return [0x30, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    private mutating func openSSHKey() -> [UInt8] {
        Array("openssh-key-v1\0".utf8) + [0, 0, 0, 4] + Array("none".utf8) + [0, 0, 0, 4] + Array("none".utf8)
            + bytes(180)
    }

    /// A secret key of version 4 with RSA, without a passphrase.
    private mutating func openPGPKey() -> [UInt8] {
        let body: [UInt8] = [4, 0, 0, 0, 1, 1, 0x08, 0x00] + bytes(256) + [0, 17, 1, 0, 1, 0] + bytes(600)
        return [0x95, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    private static func pem(_ label: String, _ bytes: [UInt8]) -> String {
        let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let gap = label.hasPrefix("PGP") ? "\n" : ""
        return "-----BEGIN \(label)-----\n\(gap)\(lines)\n-----END \(label)-----\n"
    }
}
