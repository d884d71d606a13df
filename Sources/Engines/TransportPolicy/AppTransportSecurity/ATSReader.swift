// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import LinuxSystem

/// App Transport Security settings with the problems that were found while they were read.
public struct ATSReading: Hashable, Sendable {
    public let settings: AppTransportSecurity
    public let findings: [ATSFinding]

    /// Whether a part of the settings cannot be used.
    public var hasErrors: Bool { findings.contains { $0.severity == .error } }
}

extension AppTransportSecurity {
    /// The maximum length of an `Info.plist` in bytes: 1 MiB.
    public static let maxLength = 1 << 20

    /// Reads the settings of an `Info.plist`, in XML or binary.
    ///
    /// - Throws: if the bytes are not a property list with a dictionary.
    public static func reading(infoPlist bytes: [UInt8]) throws(TransportPolicyError) -> ATSReading {
        guard bytes.count <= maxLength else {
            throw TransportPolicyError("the property list has more than \(maxLength) bytes")
        }
        let list: PropertyListValue
        do throws(PropertyListError) { list = try PropertyListReader.readAnyForm(bytes) } catch {
            throw TransportPolicyError("not a property list: \(error)")
        }
        guard let members = list.dictionary else {
            throw TransportPolicyError("expected a property list with a dictionary, found \(list.kindText)")
        }
        return reading(members["NSAppTransportSecurity"])
    }

    /// Reads the value of `NSAppTransportSecurity`; nil if the key is absent.
    ///
    /// Every value results in settings. A part that cannot be read grants nothing, and pins that cannot
    /// be read refuse the connections that they may be for.
    public static func reading(_ value: PropertyListValue?) -> ATSReading {
        guard let value else { return ATSReading(settings: .strict, findings: []) }
        var reader = ATSReader()
        let settings = reader.settings(value)
        return ATSReading(settings: settings, findings: reader.findings)
    }
}

/// Reads the dictionary, and collects findings about it.
struct ATSReader {
    private(set) var findings: [ATSFinding] = []
    /// The number of errors, also of those that ``findings`` leaves out: an entry is only used if it
    /// has none.
    private(set) var errorCount = 0

    /// The maximum number of domains of a dictionary.
    static let maxDomains = PinConfiguration.maxDomains
    /// The maximum number of findings; further ones are left out.
    static let maxFindings = 500

    mutating func settings(_ value: PropertyListValue) -> AppTransportSecurity {
        var settings = AppTransportSecurity()
        guard let members = value.dictionary else {
            report(.error, .wrongType, .root, "NSAppTransportSecurity must be a dictionary, found \(value.kindText)")
            settings.unreadablePins.everywhere = "NSAppTransportSecurity is not a dictionary"
            return settings
        }
        var dictionary = ATSDictionary(members, .root)
        settings.allowsArbitraryLoads = flag(&dictionary, "NSAllowsArbitraryLoads") ?? false
        settings.allowsArbitraryLoadsForMedia = flag(&dictionary, "NSAllowsArbitraryLoadsForMedia")
        settings.allowsArbitraryLoadsInWebContent = flag(&dictionary, "NSAllowsArbitraryLoadsInWebContent")
        settings.allowsLocalNetworking = flag(&dictionary, "NSAllowsLocalNetworking")
        settings.requiresNIAPPackage = requiresPackage(&dictionary, "NSRequiresNIAPTLSPackageVersion") ?? false
        settings.exceptions = exceptions(&dictionary)
        readPins(&dictionary, &settings)
        reportUnknown(dictionary)
        reportConflicts(settings)
        if errorCount > 0 { settings.withdrawGeneralExceptions() }
        return settings
    }

    /// Reports settings without effect, and settings that conflict with pins.
    private mutating func reportConflicts(_ settings: AppTransportSecurity) {
        if settings.allowsArbitraryLoads, !settings.isArbitraryLoadsEffective {
            report(
                .warning, .noEffect, .root.appending("NSAllowsArbitraryLoads"),
                "has no effect, because a narrower key is present", hint: "remove it")
        }
        for set in settings.pins.sets {
            let host = set.rule.domain.host
            guard settings.rules(for: .host(host), .general).allowsInsecureHTTP else { continue }
            report(
                .warning, .conflict, ATSPath.root.appending("NSPinnedDomains").appending(host.description),
                "http is allowed for a domain with pins; it is refused all the same",
                hint: "add \(host) to NSExceptionDomains, without NSExceptionAllowsInsecureHTTPLoads")
        }
    }
}

// MARK: Values

extension ATSReader {
    mutating func report(
        _ severity: ATSFinding.Severity, _ kind: ATSFinding.Kind, _ path: ATSPath, _ problem: String,
        hint: String? = nil
    ) {
        if severity == .error { errorCount += 1 }
        // The first error is always recorded, so that a reading states whether it has one.
        guard findings.count < Self.maxFindings || (severity == .error && errorCount == 1) else { return }
        findings.append(ATSFinding(severity, kind, path, problem, hint: hint))
    }

    /// The value of a Boolean key: nil if it is absent, false if it is not a Boolean.
    mutating func flag(_ dictionary: inout ATSDictionary, _ key: String) -> Bool? {
        guard let value = dictionary.take(key) else { return nil }
        if let flag = value.boolean { return flag }
        report(
            .error, .wrongType, dictionary.path.appending(key), "expected true or false, found \(value.kindText)",
            hint: "write <true/> or <false/>")
        return false
    }

    mutating func requiresPackage(_ dictionary: inout ATSDictionary, _ key: String) -> Bool? {
        guard let value = dictionary.take(key) else { return nil }
        if value.string == "none" { return false }
        report(
            .error, .unsupported, dictionary.path.appending(key),
            "requires rules that cannot be verified here; connections are refused",
            hint: "remove the key, or write none")
        return true
    }

    /// The entries of a dictionary of domains, sorted; nil if the key is absent.
    ///
    /// - Returns: an empty array if the value is not a dictionary or is too large. Both are reported.
    mutating func domains(_ dictionary: inout ATSDictionary, _ key: String) -> [(String, PropertyListValue)]? {
        guard let value = dictionary.take(key) else { return nil }
        let path = dictionary.path.appending(key)
        guard let members = value.dictionary else {
            report(.error, .wrongType, path, "expected a dictionary of domains, found \(value.kindText)")
            return []
        }
        guard members.count <= Self.maxDomains else {
            report(.error, .limit, path, "more than \(Self.maxDomains) domains")
            return []
        }
        return members.sorted { $0.key < $1.key }
    }

    mutating func reportUnknown(_ dictionary: ATSDictionary, _ severity: ATSFinding.Severity = .warning) {
        for key in dictionary.remaining {
            report(severity, .unknownKey, dictionary.path.appending(key), "unknown key without effect")
        }
    }
}

/// A dictionary that loses each key that is read, so that only unknown keys remain.
struct ATSDictionary {
    private var members: [String: PropertyListValue]
    let path: ATSPath

    init(_ members: [String: PropertyListValue], _ path: ATSPath) { (self.members, self.path) = (members, path) }

    mutating func take(_ key: String) -> PropertyListValue? { members.removeValue(forKey: key) }

    var remaining: [String] { members.keys.sorted() }
}

extension AppTransportSecurity {
    /// Withdraws the exceptions that make connections less secure in general, and keeps the requirements of the
    /// program's own values.
    fileprivate mutating func withdrawGeneralExceptions() {
        allowsArbitraryLoads = false
        allowsArbitraryLoadsForMedia = allowsArbitraryLoadsForMedia.map { _ in false }
        allowsArbitraryLoadsInWebContent = allowsArbitraryLoadsInWebContent.map { _ in false }
        allowsLocalNetworking = allowsLocalNetworking.map { _ in false }
    }
}

extension PropertyListValue {
    /// How messages name the type.
    var kindText: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .real: "a real"
        case .boolean: "a Boolean"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}
