// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

@testable import TransportPolicy

/// The list of public suffixes.
@Suite("Public suffixes")
struct PublicSuffixesTests {
    private static let list = """
        // A comment
        com
        uk
        co.uk   // the rest of a line does not count
        *.ck
        !www.ck

        公司.cn
        GitHub.io
        *
        !
        a..b
        \(String(repeating: "x", count: 70))
        """

    @Test(
        "ATS-16: rules, wildcards, exceptions and international names of a list are applied",
        arguments: [
            ("com", true), ("example.com", false), ("co.uk", true), ("example.co.uk", false), ("anything.ck", true),
            ("www.ck", false), ("ck", false), ("a.b.ck", false), ("xn--55qx5d.cn", true), ("github.io", true),
            ("me.github.io", false), ("localhost", false), ("x", false), ("example", false),
        ])
    func rules(_ name: String, _ expected: Bool) throws {
        let suffixes = PublicSuffixes(list: Array(Self.list.utf8))
        #expect(suffixes.contains(try DomainName(name)) == expected)
    }

    @Test(
        "ATS-16: the samples of RFC 3492 have the form of the RFC",
        arguments: [
            ("bücher", "xn--bcher-kva"), ("ليهمابتكلموشعربي؟", "xn--egbpdaj6bu4bxfgehfvwxn"),
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"), ("plain", "plain"), ("-", "-"),
        ])
    func punycode(_ text: String, _ expected: String) {
        #expect(Punycode.label(text[...]) == expected)
    }

    @Test("ATS-16: labels that are too long have no form in ASCII")
    func long() {
        for text in [
            String(repeating: "a", count: 64), String(repeating: "\u{1F600}", count: 63),
            String(repeating: "\u{10FFFF}", count: 100_000),
        ] {
            #expect(Punycode.label(text[...]) == nil)
        }
    }

    @Test("ATS-16: without a list, well-known suffixes and names with two letters are known")
    func builtIn() throws {
        for name in ["com", "co.uk", "github.io", "de", "io"] {
            #expect(PublicSuffixes.builtIn.contains(try DomainName(name)), "\(name)")
        }
        for name in ["example.com", "localhost", "nas"] {
            #expect(!PublicSuffixes.builtIn.contains(try DomainName(name)), "\(name)")
        }
        #expect(PublicSuffixes.builtIn.source == .builtIn)
    }

    private static let path = "/usr/share/publicsuffix/public_suffix_list.dat"

    @Test(
        "ATS-16: the system's list is read, and agrees with the suffixes that are known without it",
        .enabled(if: FileManager.default.fileExists(atPath: path), "publicsuffix is not installed"))
    func system() throws {
        let suffixes = PublicSuffixes.system()
        #expect(suffixes.source == .system)
        for name in ["com", "co.uk", "github.io", "de", "xn--p1ai", "xn--55qx5d.cn", "kobe.jp", "a.kobe.jp"] {
            // The last rules are *.kobe.jp and !city.kobe.jp.
            #expect(suffixes.contains(try DomainName(name)) == (name != "kobe.jp"), "\(name)")
        }
        #expect(!suffixes.contains(try DomainName("city.kobe.jp")))
    }
}
