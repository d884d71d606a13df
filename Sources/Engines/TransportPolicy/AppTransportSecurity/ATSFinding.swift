// SPDX-License-Identifier: Apache-2.0

/// A problem of App Transport Security settings.
public struct ATSFinding: Hashable, Sendable {
    public enum Severity: String, Hashable, Sendable, Comparable {
        /// Without an effect on security.
        case note
        /// The settings are weaker than they could be, or probably not as intended.
        case warning
        /// A part of the settings cannot be used. General exceptions are then not granted.
        case error

        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .note: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// The kind of problem, by a name that does not change between versions.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case wrongType = "wrong-type"
        case wrongValue = "wrong-value"
        case wrongDomain = "wrong-domain"
        case conflict
        case limit
        case unsupported
        case unknownKey = "unknown-key"
        case noEffect = "no-effect"
        case obsolete
        case arbitraryLoads = "arbitrary-loads"
        case localNetworking = "local-networking"
        case insecureHTTP = "insecure-http"
        case oldVersion = "old-tls-version"
        case noForwardSecrecy = "no-forward-secrecy"
        case publicSuffix = "public-suffix"
        case singlePin = "single-pin"
        case placeholderPin = "placeholder-pin"
    }

    public let severity: Severity
    public let kind: Kind
    /// The keys from `NSAppTransportSecurity` to the value, separated by slashes; empty for the
    /// dictionary itself.
    public let path: String
    /// The problem, with the expected and the found value.
    public let problem: String
    /// The change to make; nil if the problem says so.
    public let hint: String?

    init(_ severity: Severity, _ kind: Kind, _ path: ATSPath, _ problem: String, hint: String? = nil) {
        (self.severity, self.kind, self.path) = (severity, kind, path.text)
        (self.problem, self.hint) = (problem, hint)
    }
}

/// The keys that lead to a value.
struct ATSPath {
    let text: String

    static let root = ATSPath(text: "")

    /// The path of a key's value. Keys can be of any length; only their beginning is kept.
    func appending(_ key: String) -> ATSPath {
        let start = String(key.prefix(100))
        return ATSPath(text: text.isEmpty ? start : "\(text)/\(start)")
    }
}
