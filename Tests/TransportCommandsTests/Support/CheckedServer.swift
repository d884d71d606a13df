// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing
import TransportPolicy

/// One row of the table of servers: the properties of a server, the settings of the user and of the program, and
/// whether the server is accepted.
struct CheckedServer: Sendable, CustomTestStringConvertible {
    /// A command or library that checks a server. The first four are commands, the others libraries.
    enum Checker: String, CaseIterable, Sendable {
        case tlsCheck, verifyCert, pinReport, trustExplain
        case connection, urlSession, httpClient
    }

    /// Why the result of one of them is another one. Documentation/TLSCommands.md lists the reasons.
    enum Difference: String, CaseIterable, Sendable {
        /// `verify-cert`, `pin report` and `trust explain` have no option for settings and pins of a
        /// program.
        case withoutProgramSettings
        /// `trust explain` reads files: there is no connection.
        case withoutConnection
        /// async-http-client verifies chains with BoringSSL.
        case boringSSL
        /// async-http-client shows only the leaf, so that pins of CAs are refused or match nothing.
        case leafOnly
        /// async-http-client does not use trust settings.
        case withoutTrustSettings
        /// Settings of App Transport Security that lower or raise versions and suites have no effect on
        /// async-http-client.
        case withoutLowering
    }

    enum Pinned: Sendable { case leaf, intermediate, root, other }

    /// `latchkey pin add` for a domain.
    struct Stored: Sendable {
        var domain = "localhost"
        var pins: [Pinned]
        var placement = PinPlacement.leaf
        var subdomains = false
    }

    enum Certificate: Sendable {
        case usual
        case names(String)
        case days(Int)
        case key([String])
        /// RSA of 2048 bits, also to exchange keys.
        case encipherment
        case digest(String)
        /// Lines of openssl's configuration in place of another.
        case extensions(replacing: String, String)
        /// A CA with the same names and other keys.
        case stranger
        case selfSigned
        /// An intermediate that the server does not send.
        case missingIssuer
        /// An intermediate with these name constraints. The server sends it.
        case constrained(String)
    }

    enum Setting: Sendable {
        case denyRoot, denyLeaf, trustStranger
    }

    let title: String
    var host = "localhost"
    var certificate = Certificate.usual
    /// Arguments of openssl's server.
    var options: [String] = []
    var stored: [Stored] = []
    /// The text of `NSAppTransportSecurity`, with `LEAF` and `OTHER` for pins.
    var settings: String?
    /// The pins of the program, or of the command line.
    var pins: [Pinned] = []
    var setting: Setting?
    let isAccepted: Bool
    var differences: [Checker: Difference] = [:]

    var testDescription: String { title }

    /// The checkers that a row is for: pins are reported only of hosts that have some, and a URL session
    /// resolves names.
    var checkers: [Checker] {
        Checker.allCases.filter { checker in
            switch checker {
            case .pinReport:
                stored.contains { $0.domain == host } || stored.contains { $0.subdomains && isBelow($0.domain) }
            case .urlSession: host == "localhost" || host == "127.0.0.1"
            default: true
            }
        }
    }

    private func isBelow(_ domain: String) -> Bool {
        host.hasSuffix(".\(domain)") && host.split(separator: ".").count == domain.split(separator: ".").count + 1
    }

    // MARK: The table

    static let rsa2048 = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    private static let rsa1024 = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]
    private static func curve(_ name: String) -> [String] {
        ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(name)"]
    }
    private static let weak = ["-cipher", "DEFAULT@SECLEVEL=0"]
    private static let leafOnly: [Checker: Difference] = [.httpClient: .leafOnly]
    private static let boringSSL: [Checker: Difference] = [.httpClient: .boringSSL]
    private static let programSettings: [Checker: Difference] = [
        .verifyCert: .withoutProgramSettings, .pinReport: .withoutProgramSettings,
        .trustExplain: .withoutProgramSettings,
    ]
    private static func exception(_ entry: String) -> String {
        "<key>NSExceptionDomains</key><dict><key>localhost</key><dict>\(entry)</dict></dict>"
    }
    private static func pinned(_ pin: String) -> String {
        """
        <key>NSPinnedDomains</key><dict><key>localhost</key><dict><key>NSPinnedLeafIdentities</key><array><dict>
        <key>SPKI-SHA256-BASE64</key><string>\(pin)</string></dict></array></dict></dict>
        """
    }

    static let pinRows = [
        Self(title: "no pins", isAccepted: true),
        Self(title: "the stored pin of the leaf", stored: [Stored(pins: [.leaf])], isAccepted: true),
        Self(
            title: "the stored pin of a CA", stored: [Stored(pins: [.intermediate], placement: .certificateAuthority)],
            isAccepted: true, differences: leafOnly),
        Self(
            title: "the stored pin of the root", stored: [Stored(pins: [.root], placement: .anywhere)],
            isAccepted: true,
            differences: leafOnly),
        Self(title: "a wrong stored pin", stored: [Stored(pins: [.other])], isAccepted: false),
        Self(
            title: "a wrong stored pin of a CA", stored: [Stored(pins: [.other], placement: .certificateAuthority)],
            isAccepted: false),
        Self(title: "the stored pin of a CA as the leaf's", stored: [Stored(pins: [.intermediate])], isAccepted: false),
        Self(
            title: "the stored pin of the leaf as a CA's",
            stored: [Stored(pins: [.leaf], placement: .certificateAuthority)], isAccepted: false),
        Self(title: "the backup pin matches", stored: [Stored(pins: [.other, .leaf])], isAccepted: true),
        Self(
            title: "pins of the domain above, with subdomains", host: "api.example.com",
            stored: [Stored(domain: "example.com", pins: [.leaf], subdomains: true)], isAccepted: true),
        Self(
            title: "wrong pins of the domain above, with subdomains", host: "api.example.com",
            stored: [Stored(domain: "example.com", pins: [.other], subdomains: true)], isAccepted: false),
        Self(
            title: "wrong pins of the domain above, without subdomains", host: "api.example.com",
            stored: [Stored(domain: "example.com", pins: [.other])], isAccepted: true),
        Self(
            title: "wrong pins two levels above", host: "a.api.example.com",
            stored: [Stored(domain: "example.com", pins: [.other], subdomains: true)], isAccepted: true),
        Self(
            title: "the longest domain applies", host: "api.example.com",
            stored: [
                Stored(domain: "example.com", pins: [.other], subdomains: true),
                Stored(domain: "api.example.com", pins: [.leaf]),
            ], isAccepted: true),
        Self(
            title: "the longest domain applies, and is wrong", host: "api.example.com",
            stored: [
                Stored(domain: "example.com", pins: [.leaf], subdomains: true),
                Stored(domain: "api.example.com", pins: [.other]),
            ], isAccepted: false),
        Self(
            title: "wrong pins of another host", stored: [Stored(domain: "example.org", pins: [.other])],
            isAccepted: true),
        Self(
            title: "the stored pin, and a wrong one of the settings", stored: [Stored(pins: [.leaf])],
            settings: pinned("OTHER"), isAccepted: false, differences: programSettings),
        Self(
            title: "the pin of the settings, and a wrong stored one", stored: [Stored(pins: [.other])],
            settings: pinned("LEAF"), isAccepted: false),
        Self(
            title: "the stored pin, and a wrong one of the program", stored: [Stored(pins: [.leaf])], pins: [.other],
            isAccepted: false, differences: programSettings),
        Self(
            title: "the pin of the program, and a wrong stored one", stored: [Stored(pins: [.other])], pins: [.leaf],
            isAccepted: false),
        Self(
            title: "a wrong stored pin, although arbitrary loads are allowed", stored: [Stored(pins: [.other])],
            settings: "<key>NSAllowsArbitraryLoads</key><true/>", isAccepted: false),
    ]

    static let certificateRows = [
        Self(title: "an expired leaf", certificate: .days(-1), isAccepted: false),
        Self(title: "a leaf for 900 days", certificate: .days(900), isAccepted: false, differences: boringSSL),
        Self(title: "another host", certificate: .names("DNS:example.org"), isAccepted: false),
        Self(
            title: "no alternative name", certificate: .extensions(replacing: "subjectAltName=DNS:localhost\n", ""),
            isAccepted: false),
        Self(
            title: "a wildcard", host: "api.example.com", certificate: .names("DNS:*.example.com"), isAccepted: true),
        Self(title: "an address", host: "127.0.0.1", certificate: .names("IP:127.0.0.1"), isAccepted: true),
        Self(
            title: "an address as a host name", host: "127.0.0.1", certificate: .names("DNS:127.0.0.1"),
            isAccepted: false),
        Self(title: "self-signed", certificate: .selfSigned, isAccepted: false),
        Self(title: "another CA with the same names", certificate: .stranger, isAccepted: false),
        Self(title: "an intermediate that is not sent", certificate: .missingIssuer, isAccepted: false),
        Self(
            title: "a leaf of a client", certificate: .extensions(replacing: "serverAuth", "clientAuth"),
            isAccepted: false),
        Self(
            title: "a leaf that is a CA", certificate: .extensions(replacing: "CA:FALSE", "CA:TRUE"), isAccepted: false,
            differences: boringSSL),
        Self(
            title: "an unknown critical extension",
            certificate: .extensions(replacing: "subjectKeyIdentifier=hash", "1.2.3.4=critical,ASN1:NULL"),
            isAccepted: false),
        Self(
            title: "no authority key identifier, under an anchor of the system",
            certificate: .extensions(replacing: "authorityKeyIdentifier=keyid", "authorityKeyIdentifier=none"),
            isAccepted: false, differences: boringSSL),
        Self(
            title: "names that the CA may have", certificate: .constrained("permitted;DNS:localhost"), isAccepted: true),
        Self(
            title: "names that the CA may not have", certificate: .constrained("excluded;DNS:localhost"),
            isAccepted: false),
        Self(title: "RSA of 2048 bits", certificate: .key(rsa2048), isAccepted: true),
        Self(title: "RSA of 1024 bits", certificate: .key(rsa1024), options: weak, isAccepted: false),
        Self(title: "P-384", certificate: .key(curve("P-384")), isAccepted: true),
        Self(title: "SHA-1", certificate: .digest("-sha1"), options: weak, isAccepted: false),
    ]

    static let connectionRows = [
        Self(title: "TLS 1.3", options: ["-tls1_3"], isAccepted: true),
        Self(title: "TLS 1.2", options: ["-tls1_2"], isAccepted: true),
        Self(
            title: "TLS 1.1", options: ["-tls1_1"] + weak, isAccepted: false,
            differences: [.trustExplain: .withoutConnection]),
        Self(
            title: "no forward secrecy", certificate: .encipherment,
            options: ["-tls1_2", "-cipher", "AES256-GCM-SHA384"], isAccepted: false,
            differences: [.trustExplain: .withoutConnection]),
        Self(
            title: "no forward secrecy, with an exception",
            certificate: .encipherment, options: ["-tls1_2", "-cipher", "AES256-GCM-SHA384"],
            settings: exception("<key>NSExceptionRequiresForwardSecrecy</key><false/>"), isAccepted: true,
            differences: [.verifyCert: .withoutProgramSettings, .httpClient: .withoutLowering]),
        Self(
            title: "TLS 1.2, where 1.3 is required", options: ["-tls1_2"],
            settings: exception("<key>NSExceptionMinimumTLSVersion</key><string>TLSv1.3</string>"), isAccepted: false,
            differences: [.verifyCert: .withoutProgramSettings, .trustExplain: .withoutProgramSettings]),
        Self(
            title: "an untrusted server, although arbitrary loads are allowed", certificate: .stranger,
            settings: "<key>NSAllowsArbitraryLoads</key><true/>", isAccepted: false),
    ]

    private static let noSettings: [Checker: Difference] = [.httpClient: .withoutTrustSettings]

    static let settingRows = [
        Self(title: "the root is denied", setting: .denyRoot, isAccepted: false, differences: noSettings),
        Self(title: "the leaf is denied", setting: .denyLeaf, isAccepted: false, differences: noSettings),
        Self(
            title: "the user trusts another root", certificate: .stranger, setting: .trustStranger, isAccepted: true,
            differences: noSettings),
        Self(
            title: "the user trusts another root, and the stored pin is wrong", certificate: .stranger,
            stored: [Stored(pins: [.other])], setting: .trustStranger, isAccepted: false),
        Self(
            title: "the user trusts another root, and the stored pin is right", certificate: .stranger,
            stored: [Stored(pins: [.leaf])], setting: .trustStranger, isAccepted: true, differences: noSettings),
    ]

    static let all = pinRows + certificateRows + connectionRows + settingRows
}
