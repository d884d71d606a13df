// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Pins from a dictionary, with a validator for the app's delegate.
///
/// ```swift
/// let pinning = try DomainPinning(configuration: [
///     kTSKPinnedDomains: ["example.com": [kTSKPublicKeyHashes: ["…", "…"], kTSKIncludeSubdomains: true]]
/// ])
/// ```
public final class DomainPinning: Sendable {
    /// Answers the challenges of a delegate.
    public let pinningValidator: PinningValidator

    /// - Parameters:
    ///   - configuration: the app's dictionary.
    ///   - report: called about servers without a pinned key; an app sends the report to its URIs.
    /// - Throws: a ``PinningConfigurationError``.
    public init(configuration: [String: Any], report: @escaping @Sendable (PinningReport) -> Void = { _ in }) throws {
        guard let settings = configuration[kTSKPinnedDomains] as? [String: [TSKDomainKey: Any]] else {
            throw PinningConfigurationError("\(kTSKPinnedDomains) is missing, or not a dictionary")
        }
        var domains: [PinnedDomain] = []
        for (name, members) in settings { domains.append(try PinnedDomain(name, members)) }
        pinningValidator = PinningValidator(domains, report)
    }
}

/// The report to an app's server about a connection without a pinned key.
public struct PinningReport: Sendable {
    public let hostname: String
    /// The domain of the pins that apply.
    public let notedHostname: String
    public let isEnforced: Bool
    public let knownPins: Set<String>
    /// The digests of the chain that the server has, leaf first.
    public let servedPins: [String]
    /// Where the app sends the report.
    public let reportURIs: [URL]
}
