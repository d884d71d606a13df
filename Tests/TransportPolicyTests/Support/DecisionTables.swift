// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import LinuxSystem

@testable import TransportPolicy

/// The tables of Tables/decisions.txt.
struct DecisionTables {
    struct Table {
        let name: String
        let columns: [String]
        /// The cells of each row by column, after the row's name.
        var rows: [(name: String, cells: [String: String])] = []
    }

    /// By name.
    private(set) var tables: [String: Table] = [:]

    struct FormatError: Error, CustomStringConvertible { let description: String }

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Tables/decisions.txt")
        for block in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n\n") {
            let lines = block.split(separator: "\n").filter { !$0.hasPrefix("#") }
            guard let head = lines.first, head.hasPrefix("table "), lines.count > 2 else { continue }
            let names = lines[1].split(separator: " ").map(String.init)
            var table = Table(name: String(head.dropFirst("table ".count)), columns: names)
            for line in lines.dropFirst(2) {
                let words = line.split(separator: " ").map(String.init)
                guard words.count > names.count else { throw FormatError(description: "\(table.name): \(line)") }
                let label = words.prefix(words.count - names.count).joined(separator: " ")
                let cells = zip(names, words.suffix(names.count))
                table.rows.append((label, Dictionary(uniqueKeysWithValues: cells.map { ($0, $1) })))
            }
            tables[table.name] = table
        }
    }

    func table(_ name: String) throws -> Table {
        guard let table = tables[name] else { throw FormatError(description: "there is no table \(name)") }
        return table
    }

    // MARK: Meanings of the names in the tables

    static func settings(_ name: String) throws -> AppTransportSecurity {
        let example: (PropertyListValue) -> PropertyListValue = { ["NSExceptionDomains": ["example.com": $0]] }
        let insecure = "NSExceptionAllowsInsecureHTTPLoads"
        let dictionaries: [String: PropertyListValue] = [
            "default": [:], "arbitrary": ["NSAllowsArbitraryLoads": true],
            "arbitrary+web": ["NSAllowsArbitraryLoads": true, "NSAllowsArbitraryLoadsInWebContent": false],
            "media": ["NSAllowsArbitraryLoadsForMedia": true], "web": ["NSAllowsArbitraryLoadsInWebContent": true],
            "local": ["NSAllowsLocalNetworking": true], "http": example(.dictionary([insecure: true])),
            "http+sub": example(.dictionary([insecure: true, "NSIncludesSubdomains": true])),
            "old-http": example(["NSTemporaryExceptionAllowsInsecureHTTPLoads": true]),
            "tls11": example(["NSExceptionMinimumTLSVersion": "TLSv1.1"]),
            "tls13+sub": example(["NSExceptionMinimumTLSVersion": "TLSv1.3", "NSIncludesSubdomains": true]),
            "no-fs": example(["NSExceptionRequiresForwardSecrecy": false]),
            "guarded": [
                "NSAllowsArbitraryLoads": true, "NSExceptionDomains": ["example.com": ["NSIncludesSubdomains": true]],
            ],
            "nested": [
                "NSExceptionDomains": [
                    "example.com": .dictionary([insecure: true, "NSIncludesSubdomains": true]), "www.example.com": [:],
                ]
            ],
            "addresses": ["NSExceptionDomains": ["192.0.2.0/24": .dictionary([insecure: true])]],
        ]
        guard let dictionary = dictionaries[name] else { throw FormatError(description: "no settings \(name)") }
        let reading = AppTransportSecurity.reading(dictionary)
        guard !reading.hasErrors else { throw FormatError(description: "\(name): \(reading.summary)") }
        return reading.settings
    }

    static let versions: [String: TLSVersion?] = [
        "ssl3": nil, "tls10": .tls10, "tls11": .tls11, "tls12": .tls12, "tls13": .tls13,
    ]

    /// As OpenSSL names them.
    static let suites = [
        "gcm13": "TLS_AES_256_GCM_SHA384", "ecdhe": "ECDHE-RSA-AES128-GCM-SHA256", "dhe": "DHE-RSA-AES256-GCM-SHA384",
        "rsa": "AES256-GCM-SHA384", "rc4": "ECDHE-RSA-RC4-SHA",
    ]

    static let keys = [
        "rsa2048": LeafStrength(kind: .rsa, bits: 2048, hash: .sha256),
        "rsa2047": LeafStrength(kind: .rsa, bits: 2047, hash: .sha256),
        "rsa1024": LeafStrength(kind: .rsa, bits: 1024, hash: .sha512),
        "p256": LeafStrength(kind: .curve, bits: 256, hash: .sha256),
        "p384": LeafStrength(kind: .curve, bits: 384, hash: .sha384),
        "p224": LeafStrength(kind: .curve, bits: 224, hash: .sha256),
        "ed25519": LeafStrength(kind: .other, bits: nil, hash: .sha256),
        "sha1": LeafStrength(kind: .rsa, bits: 4096, hash: .sha1),
        "sha224": LeafStrength(kind: .curve, bits: 256, hash: .sha224),
        "unsigned": LeafStrength(kind: .rsa, bits: 2048, hash: nil),
    ]
}
