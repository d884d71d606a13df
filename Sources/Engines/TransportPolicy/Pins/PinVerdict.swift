// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust

/// The result of the comparison of a chain with the pins of its host.
public enum PinVerdict: Hashable, Sendable {
    /// The chain has the pinned keys.
    ///
    /// - Parameter hasBackup: whether each requirement also has a pin that is not in the chain.
    case matched(hasBackup: Bool)
    /// The pins have expired, and are open afterwards.
    case expired
    /// The pins are not satisfied, but only reports are requested.
    case reported(PinFailure)
    case refused(PinFailure)

    /// Whether the connection may be used.
    public var isAccepted: Bool { if case .refused = self { false } else { true } }
}

/// Why a chain does not satisfy the pins of its host, with all that a report needs.
public struct PinFailure: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// No pin matches in these places.
        case mismatch([PinPlacement])
        /// The pins have expired, and are closed afterwards.
        case expired
    }

    /// A certificate and the pin of its key.
    public struct Key: Hashable, Sendable {
        public let pin: Pin
        /// The subject, at most 100 characters.
        public let subject: String
        public let isLeaf: Bool
    }

    public let domain: DomainName
    public let reason: Reason
    public let configured: [PinRequirement]
    /// The keys of the validated chain. They were compared.
    public let validated: [Key]
    /// The keys that the server sent. They were not compared.
    public let served: [Key]

    /// The maximum number of certificates that a failure names of each chain.
    static let maxKeys = 16

    init(_ set: PinSet, _ reason: Reason, _ chain: ValidatedChain, _ served: [Certificate]) {
        (domain, self.reason, configured) = (set.rule.domain, reason, set.requirements)
        validated = Self.keys(chain.certificates)
        self.served = Self.keys(served)
    }

    private static func keys(_ certificates: [Certificate]) -> [Key] {
        certificates.prefix(maxKeys).enumerated().map { index, certificate in
            Key(
                pin: Pin(certificate), subject: String((certificate.subjectSummary ?? "no name").prefix(100)),
                isLeaf: index == 0)
        }
    }
}

// MARK: CustomStringConvertible

extension PinFailure: CustomStringConvertible {
    /// The pins that were expected and found.
    public var description: String {
        switch reason {
        case .expired: "the pins of \(domain) have expired"
        case .mismatch(let places):
            "no pin of \(domain) matches \(places.map(\.text).joined(separator: " and ")): expected \(expected(places)); found "
                + "\(found(validated))\(misplaced)"
        }
    }

    private func expected(_ places: [PinPlacement]) -> String {
        let pins = configured.filter { places.contains($0.placement) }.flatMap(\.pins)
        return Self.list(pins.map(\.description).sorted())
    }

    private func found(_ keys: [Key]) -> String {
        Self.list(keys.map { "\($0.pin) (\($0.isLeaf ? "leaf" : "CA") \($0.subject.quoted))" })
    }

    /// The most frequent mistakes of a configuration and of an attack.
    private var misplaced: String {
        let pins = Set(configured.flatMap(\.pins))
        if let key = validated.first(where: { pins.contains($0.pin) && isUnused($0) }) {
            return "; \(key.pin) is pinned for \(key.isLeaf ? "a CA" : "the leaf"), "
                + "but it is the key of \(key.isLeaf ? "the leaf" : "a CA")"
        }
        let compared = Set(validated.map(\.pin))
        if let key = served.first(where: { pins.contains($0.pin) && !compared.contains($0.pin) }) {
            return "; the server sent a certificate with \(key.pin) outside of the validated chain"
        }
        return ""
    }

    /// Whether a pinned key of the chain is in a place where its pin is not configured.
    private func isUnused(_ key: Key) -> Bool {
        !configured.contains { requirement in
            guard requirement.pins.contains(key.pin) else { return false }
            return switch requirement.placement {
            case .leaf: key.isLeaf
            case .certificateAuthority: !key.isLeaf
            case .anywhere: true
            }
        }
    }

    private static func list(_ texts: [String]) -> String {
        texts.count <= 4 ? texts.joined(separator: ", ") : "\(texts.prefix(4).joined(separator: ", ")), …"
    }
}
