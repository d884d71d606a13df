// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import LatchkeyClient
internal import LinuxSystem
internal import TransportPolicy

/// The stored pins of a domain, in the shape of the JSON of `latchkey pin list`.
struct PinRecordReport: Encodable {
    var domain: String
    /// `none`, `oneLevel` or `anyLevel`.
    var subdomains: String
    /// `leaf`, `ca` or `any`.
    var placement: String
    var pins: [String]
    /// `given` or `firstUse`.
    var origin: String
    /// RFC 3339.
    var created: String
    var lastSeen: String?
    var failures: Int

    init(_ record: HostPins) {
        domain = record.domain.description
        subdomains = record.pinSet.rule.subdomains.rawValue
        placement = PinText.placement(record)
        pins = record.pinSet.requirements.flatMap(\.pins).map(\.description).sorted()
        origin = record.origin.rawValue
        created = PinText.time(record.created)
        lastSeen = record.lastSeen.map(PinText.time)
        failures = Int(record.failureCount)
    }

    var text: TerminalText {
        let below = subdomains == "none" ? "" : ", with subdomains"
        let seen = lastSeen.map { "last seen \($0)" } ?? "never seen"
        let source = origin == HostPins.Origin.firstUse.rawValue ? "of the first use" : "given"
        let heading: TerminalText =
            "\(domain)\(below): \(placement), \(source), created \(created), \(seen), \(failures) failures\n"
        return heading + pins.map { "    \($0)\n" as TerminalText }.joined()
    }
}

enum PinText {
    /// The pins of a record on one line.
    static func line(_ record: HostPins) -> String {
        let pins = record.pinSet.requirements.flatMap(\.pins).map(\.description).sorted()
        return "\(record.domain) (\(placement(record))): \(pins.prefix(4).joined(separator: " "))"
            + (pins.count > 4 ? " and \(pins.count - 4) more" : "")
    }

    static func placement(_ record: HostPins) -> String {
        switch record.pinSet.requirements.first?.placement {
        case .leaf: "leaf"
        case .certificateAuthority: "ca"
        case .anywhere, nil: "any"
        }
    }

    static func time(_ seconds: UInt64) -> String {
        CertificateTime(secondsSince1970: Int64(clamping: seconds)).description
    }
}
