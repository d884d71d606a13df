// SPDX-License-Identifier: Apache-2.0

/// Finds App Transport Security settings that are weaker than they could be.
public struct ATSLint {
    /// The problems of the reading, and those of its settings; the most severe first, then by path.
    public let findings: [ATSFinding]

    public init(_ reading: ATSReading, _ suffixes: PublicSuffixes) {
        var check = Check(suffixes: suffixes, findings: reading.findings)
        check.generalExceptions(reading.settings)
        for entry in reading.settings.exceptions { check.exception(entry, reading.settings) }
        for set in reading.settings.pins.sets { check.pins(set) }
        findings = check.findings.sorted {
            ($1.severity, $0.path, $0.kind.rawValue, $0.problem) < ($0.severity, $1.path, $1.kind.rawValue, $1.problem)
        }
    }
}

private struct Check {
    let suffixes: PublicSuffixes
    var findings: [ATSFinding]

    private mutating func warn(_ kind: ATSFinding.Kind, _ path: ATSPath, _ problem: String, _ hint: String) {
        findings.append(ATSFinding(.warning, kind, path, problem, hint: hint))
    }

    // MARK: The general keys

    mutating func generalExceptions(_ settings: AppTransportSecurity) {
        if settings.isArbitraryLoadsEffective {
            warn(
                .arbitraryLoads, ATSPath.root.appending("NSAllowsArbitraryLoads"),
                "http and weak TLS are allowed for every domain without an exception of its own",
                "remove it, and add the domains that need it to NSExceptionDomains")
        }
        if settings.allowsArbitraryLoadsForMedia == true {
            warn(
                .arbitraryLoads, ATSPath.root.appending("NSAllowsArbitraryLoadsForMedia"),
                "http and weak TLS are allowed for media of every domain", "add the media servers to NSExceptionDomains"
            )
        }
        if settings.allowsArbitraryLoadsInWebContent == true {
            warn(
                .arbitraryLoads, ATSPath.root.appending("NSAllowsArbitraryLoadsInWebContent"),
                "http and weak TLS are allowed for web content of every domain",
                "remove it, unless the program is a web browser")
        }
        if settings.allowsLocalNetworking == true {
            findings.append(
                ATSFinding(
                    .note, .localNetworking, ATSPath.root.appending("NSAllowsLocalNetworking"),
                    "http and weak TLS are allowed for every IP address, names with one label, and .local"))
        }
    }

    // MARK: Exceptions

    mutating func exception(_ entry: ExceptionDomain, _ settings: AppTransportSecurity) {
        let path = ATSPath.root.appending("NSExceptionDomains").appending("\(entry.subject)")
        if entry.allowsInsecureHTTP {
            warn(.insecureHTTP, path, "http is allowed", "serve the domain over https")
        }
        if entry.minimumVersion < .tls12 {
            warn(
                .oldVersion, path, "\(entry.minimumVersion) is allowed, although RFC 8996 forbids it",
                "remove NSExceptionMinimumTLSVersion; the default is \(TLSVersion.tls12)")
        }
        if !entry.requiresForwardSecrecy {
            warn(
                .noForwardSecrecy, path, "cipher suites without forward secrecy and short keys are allowed",
                "remove NSExceptionRequiresForwardSecrecy")
        }
        if let rule = entry.domainRule { suffix(rule, path) }
        if entry.isStrict, !settings.hasGeneralExceptions, entry.domainRule.map({ !settings.isCovered($0) }) ?? true {
            findings.append(ATSFinding(.note, .noEffect, path, "the same as without the entry"))
        }
    }

    private mutating func suffix(_ rule: DomainRule, _ path: ATSPath) {
        guard suffixes.contains(rule.domain) else { return }
        warn(
            .publicSuffix, path, "\(rule.domain) is a public suffix: anyone can register a domain below it",
            "name the domains themselves")
    }

    // MARK: Pins

    mutating func pins(_ set: PinSet) {
        let path = ATSPath.root.appending("NSPinnedDomains").appending("\(set.rule.domain)")
        suffix(set.rule, path)
        for requirement in set.requirements {
            let key = requirement.placement == .leaf ? "NSPinnedLeafIdentities" : "NSPinnedCAIdentities"
            if requirement.pins.count < 2 {
                warn(
                    .singlePin, path.appending(key),
                    "only one key is pinned, so that the program must be replaced before the key is",
                    "add the pin of a backup key")
            }
            if requirement.pins.contains(where: { Set($0.hash).count == 1 }) {
                warn(
                    .placeholderPin, path.appending(key), "a pin consists of one repeated byte, as in examples",
                    "replace it by the pin of a key")
            }
        }
        let shared = set.requirements.map(\.pins).reduce(nil as Set<Pin>?) { $0?.intersection($1) ?? $1 } ?? []
        if set.requirements.count > 1, !shared.isEmpty {
            warn(
                .conflict, path, "a key is pinned both for the leaf and for a CA",
                "keep it in the list of its certificate")
        }
    }
}

extension AppTransportSecurity {
    /// Whether an entry without keys can have an effect, because a general key grants something.
    fileprivate var hasGeneralExceptions: Bool {
        allowsArbitraryLoads || allowsArbitraryLoadsForMedia == true || allowsArbitraryLoadsInWebContent == true
            || allowsLocalNetworking == true
    }

    /// Whether a domain is a subdomain that another entry includes, so that its own entry has an effect.
    fileprivate func isCovered(_ rule: DomainRule) -> Bool {
        exceptions.contains { other in
            guard let otherRule = other.domainRule, otherRule.domain != rule.domain else { return false }
            return otherRule.includes(rule.domain.host)
        }
    }
}
