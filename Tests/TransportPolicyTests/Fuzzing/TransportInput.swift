// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import LinuxSystem
@testable import TransportPolicy

/// Untrusted settings. The first byte selects their kind: a pin, a domain, a list of public suffixes, or a property
/// list. The fuzzer and the test that replays its corpus share it.
enum TransportInput {
    /// Reads the settings.
    ///
    /// - Returns: whether the settings were read without an error, and the fault that was found; nil for none.
    static func read(_ bytes: [UInt8]) -> (isRead: Bool, fault: String?) {
        guard let choice = bytes.first else { return (false, nil) }
        let rest = Array(bytes.dropFirst())
        let text = String(decoding: rest, as: UTF8.self)
        return switch choice {
        case UInt8(ascii: "p"): pin(text)
        case UInt8(ascii: "d"): domain(text)
        case UInt8(ascii: "s"): suffixes(rest)
        default: settings(rest)
        }
    }

    private static func pin(_ text: String) -> (Bool, String?) {
        _ = try? Pin.list(text)
        guard let pin = try? Pin(text) else { return (false, nil) }
        guard pin.hash.count == 32, text.hasSuffix(pin.base64), (try? Pin(pin.description)) == pin else {
            return (true, "a pin has two values")
        }
        return (true, nil)
    }

    private static func domain(_ text: String) -> (Bool, String?) {
        _ = AddressRange(text)
        guard let domain = try? DomainName(text) else { return (false, nil) }
        guard domain.description == text, AddressRange(text) == nil else { return (true, "a domain has two forms") }
        guard let rule = try? DomainRule(domain, subdomains: .anyLevel), rule.includes(domain.host) else {
            return (true, "a domain does not include itself")
        }
        return (true, nil)
    }

    private static func suffixes(_ bytes: [UInt8]) -> (Bool, String?) {
        let suffixes = PublicSuffixes(list: bytes)
        guard let domain = try? DomainName("example.com") else { return (false, "example.com is not a domain") }
        return (suffixes.contains(domain), nil)
    }

    private static func settings(_ bytes: [UInt8]) -> (Bool, String?) {
        guard let reading = try? AppTransportSecurity.reading(infoPlist: bytes) else { return (false, nil) }
        let settings = reading.settings
        guard reading.findings.count <= ATSReader.maxFindings + 1 else { return (false, "too many findings") }
        guard !reading.hasErrors || !isWeakenedInGeneral(settings) else {
            return (false, "settings with an error weaken connections in general")
        }
        guard (try? AppTransportSecurity.reading(infoPlist: bytes)) == reading else {
            return (false, "the same bytes were read as two settings")
        }
        _ = ATSLint(reading, .builtIn)
        let members = (try? PropertyListReader.readAnyForm(bytes))?["NSAppTransportSecurity"]?["NSPinnedDomains"]?
            .dictionary
        for name in (members ?? [:]).keys.sorted().prefix(8) {
            if let fault = fault(ofPinned: name, ConnectionPolicy(settings)) { return (false, fault) }
        }
        return (!reading.hasErrors, nil)
    }

    private static func isWeakenedInGeneral(_ settings: AppTransportSecurity) -> Bool {
        settings.rules(for: .invalid(""), .general) != .strict || settings.rules(for: .invalid(""), .media) != .strict
            || settings.rules(for: .invalid(""), .webContent) != .strict || settings.allowsLocalNetworking == true
    }

    /// A domain with pins is never reached without them.
    private static func fault(ofPinned name: String, _ policy: ConnectionPolicy) -> String? {
        // A name that is not a domain may be meant for any host.
        let host = (try? DomainName(name))?.description ?? "example.com"
        if case .secure(let requirements) = policy.decision(scheme: "https", host: host, at: 0),
            requirements.pins.isEmpty
        {
            return "a domain with pins is reached without them"
        }
        guard policy.decision(scheme: "http", host: host, at: 0) != .plain else {
            return "a domain with pins is reached without TLS"
        }
        return nil
    }
}
