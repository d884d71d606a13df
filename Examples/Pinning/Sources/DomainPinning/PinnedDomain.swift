// SPDX-License-Identifier: Apache-2.0

import Foundation

public typealias TSKDomainKey = String

/// The dictionary of domains.
public let kTSKPinnedDomains = "TSKPinnedDomains"
/// SHA-256 digests of public keys in base64, at least two.
public let kTSKPublicKeyHashes: TSKDomainKey = "TSKPublicKeyHashes"
public let kTSKIncludeSubdomains: TSKDomainKey = "TSKIncludeSubdomains"
public let kTSKExcludeSubdomainFromParentPolicy: TSKDomainKey = "TSKExcludeSubdomainFromParentPolicy"
/// Whether a server without a pinned key is refused; otherwise it is only reported.
public let kTSKEnforcePinning: TSKDomainKey = "TSKEnforcePinning"
public let kTSKReportUris: TSKDomainKey = "TSKReportUris"
/// The day when the comparison of the pins ends, as yyyy-MM-dd.
public let kTSKExpirationDate: TSKDomainKey = "TSKExpirationDate"

/// The settings of one domain.
struct PinnedDomain: Sendable {
    let name: String
    let hashes: Set<String>
    let includesSubdomains: Bool
    let isExcluded: Bool
    let isEnforced: Bool
    let reportURIs: [URL]
    let expiration: Date?

    init(_ name: String, _ settings: [TSKDomainKey: Any]) throws(PinningConfigurationError) {
        let known = [
            kTSKPublicKeyHashes, kTSKIncludeSubdomains, kTSKExcludeSubdomainFromParentPolicy, kTSKEnforcePinning,
            kTSKReportUris, kTSKExpirationDate,
        ]
        if let unknown = settings.keys.first(where: { !known.contains($0) }) {
            throw PinningConfigurationError("\(name): unknown key \(unknown)")
        }
        self.name = name.lowercased()
        isExcluded = settings[kTSKExcludeSubdomainFromParentPolicy] as? Bool ?? false
        includesSubdomains = settings[kTSKIncludeSubdomains] as? Bool ?? false
        isEnforced = settings[kTSKEnforcePinning] as? Bool ?? true
        let hashes = settings[kTSKPublicKeyHashes] as? [String] ?? []
        guard hashes.allSatisfy({ Data(base64Encoded: $0)?.count == 32 }) else {
            throw PinningConfigurationError("\(name): a pin must be SHA-256 in base64")
        }
        self.hashes = Set(hashes)
        guard isExcluded || self.hashes.count >= 2 else {
            throw PinningConfigurationError("\(name): two pins are needed, one of them for a spare key")
        }
        let texts = settings[kTSKReportUris] as? [String] ?? []
        reportURIs = texts.compactMap(URL.init(string:))
        guard reportURIs.count == texts.count else { throw PinningConfigurationError("\(name): not a URL") }
        expiration = try (settings[kTSKExpirationDate] as? String).map(Self.date)
    }

    /// The settings for a host: those of the longest name.
    static func find(_ host: String, in domains: [PinnedDomain]) -> PinnedDomain? {
        let host = host.lowercased()
        let matching = domains.filter { domain in
            host == domain.name || domain.includesSubdomains && host.hasSuffix("." + domain.name)
        }
        return matching.max { $0.name.count < $1.name.count }.flatMap { $0.isExcluded ? nil : $0 }
    }

    private static func date(_ text: String) throws(PinningConfigurationError) -> Date {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd"
        guard let date = formatter.date(from: text) else { throw PinningConfigurationError("\(text): not a date") }
        return date
    }
}

/// A mistake in the app's dictionary.
public struct PinningConfigurationError: Error, CustomStringConvertible {
    public let description: String

    init(_ problem: String) {
        description = problem
    }
}
