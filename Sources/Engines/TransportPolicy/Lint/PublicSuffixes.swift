// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LinuxSystem

/// The domains with subdomains of different organizations, such as `com` and `co.uk` (publicsuffix.org).
public struct PublicSuffixes: Sendable {
    /// Where the suffixes are from.
    public enum Source: String, Sendable {
        /// The list of Debian's package publicsuffix.
        case system
        /// A few well-known ones.
        case builtIn = "built-in"
    }

    public let source: Source
    private var suffixes: Set<String> = []
    /// Domains with only suffixes as children: `ck` for the rule `*.ck`.
    private var wildcards: Set<String> = []
    /// Children of ``wildcards`` that are not suffixes.
    private var exceptions: Set<String> = []

    /// Reads the system's list; a few well-known suffixes if it is not installed.
    public static func system() -> PublicSuffixes {
        guard let bytes = (try? BoundedFile.read(path, limit: maxLength)).flatMap(\.self) else { return .builtIn }
        let list = PublicSuffixes(list: bytes)
        return list.suffixes.isEmpty ? .builtIn : list
    }

    /// Reads a list in the format of publicsuffix.org. Lines that cannot be read are skipped.
    init(list bytes: [UInt8]) {
        source = .system
        for line in String(decoding: bytes.prefix(Self.maxLength), as: UTF8.self).split(whereSeparator: \.isNewline) {
            // A rule ends at the first white space.
            let rule = line.prefix { !$0.isWhitespace }
            if !rule.isEmpty, !rule.hasPrefix("//") { add(rule) }
        }
    }

    private init(builtIn suffixes: Set<String>) { (source, self.suffixes) = (.builtIn, suffixes) }

    private mutating func add(_ rule: Substring) {
        if rule.hasPrefix("!") {
            if let domain = Self.domain(rule.dropFirst()) { exceptions.insert(domain) }
        } else if rule.hasPrefix("*.") {
            if let domain = Self.domain(rule.dropFirst(2)) { wildcards.insert(domain) }
        } else if let domain = Self.domain(rule) {
            suffixes.insert(domain)
        }
    }

    /// The domain in lower case with A-labels; nil if it is not one.
    private static func domain(_ text: Substring) -> String? {
        guard text.utf8.count <= 1000 else { return nil }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false).map(Punycode.label)
        guard !labels.isEmpty, labels.allSatisfy({ $0 != nil && $0 != "" && $0 != "*" }) else { return nil }
        return labels.compactMap(\.self).joined(separator: ".").lowercased()
    }

    /// Whether a domain is a public suffix itself. A name with one label that is not listed is the name
    /// of a host in a local network.
    public func contains(_ domain: DomainName) -> Bool {
        let name = domain.description
        if exceptions.contains(name) { return false }
        if suffixes.contains(name) { return true }
        if source == .builtIn, name.utf8.count == 2 { return true }
        return domain.host.labels.count > 1 && wildcards.contains(domain.host.labels.dropFirst().joined(separator: "."))
    }

    private static let path = "/usr/share/publicsuffix/public_suffix_list.dat"
    /// 4 MiB.
    private static let maxLength = 4 << 20

    /// Names with two letters are suffixes as well.
    static let builtIn = PublicSuffixes(builtIn: [
        "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "name", "app", "dev", "io", "cloud", "online",
        "shop", "site", "store", "tech", "xyz", "arpa", "co.uk", "org.uk", "ac.uk", "gov.uk", "com.au", "net.au",
        "org.au", "co.jp", "ne.jp", "or.jp", "co.nz", "co.za", "com.br", "com.cn", "com.mx", "com.tr", "com.tw",
        "co.in",
        "co.kr", "com.sg", "com.ar", "github.io", "gitlab.io", "pages.dev", "web.app", "herokuapp.com", "netlify.app",
        "vercel.app", "azurewebsites.net", "cloudfront.net", "s3.amazonaws.com",
    ])
}
