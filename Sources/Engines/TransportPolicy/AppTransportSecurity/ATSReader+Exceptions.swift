// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

// `NSExceptionDomains`, with the spellings of iOS 9 for domains of third parties, and those of its
// first releases.

extension ATSReader {
    private static let key = "NSExceptionDomains"
    /// Today's spelling is the first.
    private static let spellings = [
        "NSException", "NSThirdPartyException", "NSTemporaryException", "NSTemporaryThirdPartyException",
    ]

    mutating func exceptions(_ dictionary: inout ATSDictionary) -> [ExceptionDomain] {
        let path = dictionary.path.appending(Self.key)
        var (entries, subjects): ([ExceptionDomain], [ExceptionDomain.Subject: Int]) = ([], [:])
        for (name, value) in domains(&dictionary, Self.key) ?? [] {
            let path = path.appending(name)
            guard let entry = exception(name, value, path) else { continue }
            guard subjects.updateValue(entries.count, forKey: entry.identity) == nil else {
                // Two ways to write one range of addresses.
                report(.error, .conflict, path, "the same addresses have another entry; neither grants anything")
                entries = entries.map {
                    $0.identity == entry.identity ? $0.refusingExceptions() : $0
                }
                continue
            }
            entries.append(entry)
        }
        return entries
    }

    private mutating func exception(_ name: String, _ value: PropertyListValue, _ path: ATSPath) -> ExceptionDomain? {
        guard var entry = subject(name, path).map({ ExceptionDomain($0) }) else { return nil }
        guard let members = value.dictionary else {
            report(.error, .wrongType, path, "expected a dictionary of exceptions, found \(value.kindText)")
            entry.minimumVersion = .tls13
            return entry.refusingExceptions()
        }
        let errors = errorCount
        var dictionary = ATSDictionary(members, path)
        let includesSubdomains = flag(&dictionary, "NSIncludesSubdomains") ?? false
        if includesSubdomains { entry = including(subdomainsOf: entry, path) }
        entry.allowsInsecureHTTP = setting(&dictionary, "AllowsInsecureHTTPLoads", strict: false) ?? false
        entry.minimumVersion = minimumVersion(&dictionary)
        entry.requiresForwardSecrecy = setting(&dictionary, "RequiresForwardSecrecy", strict: true) ?? true
        let transparency = "NSRequiresCertificateTransparency"
        if members[transparency] != nil {
            report(.note, .obsolete, path.appending(transparency), "Apple has removed this key; it still applies here")
        }
        entry.requiresCertificateTransparency = flag(&dictionary, transparency) ?? false
        entry.requiresNIAPPackage = requiresPackage(&dictionary, "NSExceptionRequiresNIAPTLSPackageVersion")
        reportUnknown(dictionary)
        guard errorCount == errors else { return entry.refusingExceptions() }
        return entry
    }

    /// Returns the domain or the addresses of an entry. If the text is neither, reports it and returns nil.
    private mutating func subject(_ name: String, _ path: ATSPath) -> ExceptionDomain.Subject? {
        if let range = AddressRange(name) { return .addresses(range) }
        do throws(TransportPolicyError) {
            return .domain(DomainRule(of: try DomainName(name), .none))
        } catch {
            report(.error, .wrongDomain, path, error.problem, hint: error.hint)
            return nil
        }
    }

    private mutating func including(subdomainsOf entry: ExceptionDomain, _ path: ATSPath) -> ExceptionDomain {
        guard let rule = entry.domainRule else {
            report(.note, .noEffect, path.appending("NSIncludesSubdomains"), "has no effect for addresses")
            return entry
        }
        return ExceptionDomain(.domain(DomainRule(of: rule.domain, .oneLevel)))
    }

    // MARK: Settings with several spellings

    /// The value of a Boolean setting in any spelling; the strict one if two differ.
    private mutating func setting(_ dictionary: inout ATSDictionary, _ name: String, strict: Bool) -> Bool? {
        var found: [Bool] = []
        for key in keys(&dictionary, name) {
            if let value = flag(&dictionary, key) { found.append(value) }
        }
        if Set(found).count > 1 { reportSpellings(dictionary.path, name) }
        return found.isEmpty ? nil : found.contains(strict) ? strict : !strict
    }

    /// The minimum version in any spelling: the default if it is absent, the highest if several differ,
    /// and TLS 1.3 if one is unknown.
    private mutating func minimumVersion(_ dictionary: inout ATSDictionary) -> TLSVersion {
        var found: Set<TLSVersion> = []
        for key in keys(&dictionary, "MinimumTLSVersion") {
            guard let value = dictionary.take(key) else { continue }
            if let version = value.string.flatMap(TLSVersion.init(rawValue:)) {
                found.insert(version)
            } else {
                report(
                    .error, value.string == nil ? .wrongType : .wrongValue, dictionary.path.appending(key),
                    "expected a version of TLS, found \(value.string?.quoted ?? value.kindText)",
                    hint: "write one of \(TLSVersion.allCases.map(\.rawValue).joined(separator: ", "))")
                found.insert(.tls13)
            }
        }
        if found.count > 1 { reportSpellings(dictionary.path, "MinimumTLSVersion") }
        return found.max() ?? .tls12
    }

    /// The spellings of a setting, with a note for each old one that is present.
    private mutating func keys(_ dictionary: inout ATSDictionary, _ name: String) -> [String] {
        let present = Set(dictionary.remaining)
        let keys = Self.spellings.map { $0 + name }
        for key in keys.dropFirst() where present.contains(key) {
            report(
                .note, .obsolete, dictionary.path.appending(key), "an old spelling",
                hint: "write \(Self.spellings.first ?? "")\(name)")
        }
        return keys
    }

    private mutating func reportSpellings(_ path: ATSPath, _ name: String) {
        report(
            .error, .conflict, path, "two spellings of \(name) have different values", hint: "keep NSException\(name)")
    }
}

extension ExceptionDomain {
    /// The subject without its subdomains. It identifies an entry.
    fileprivate var identity: Subject {
        switch subject {
        case .domain(let rule): .domain(DomainRule(of: rule.domain, .none))
        case .addresses: subject
        }
    }
}
