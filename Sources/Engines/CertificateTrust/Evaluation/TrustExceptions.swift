// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import OpenSSLCrypto

/// Failures that a user accepted for one leaf; other failures and other leaves are not covered.
public struct TrustExceptions: Hashable, Sendable {
    /// SHA-256 of the leaf.
    private let leaf: [UInt8]
    private let entries: Set<Entry>

    private struct Entry: Hashable {
        let rule: TrustRule
        /// SHA-256 of the certificate that breaks the rule.
        let certificate: [UInt8]
    }

    init(_ failures: [TrustFailure], of chain: [Certificate]) {
        leaf = chain[0].sha256
        entries = Self.entries(failures, of: chain)
    }

    private static func entries(_ failures: [TrustFailure], of chain: [Certificate]) -> Set<Entry> {
        Set(failures.map { Entry(rule: $0.rule, certificate: chain[min($0.index, chain.count - 1)].sha256) })
    }

    /// Whether this certificate is the leaf that the exceptions are for.
    public func match(_ certificate: Certificate) -> Bool { certificate.sha256 == leaf }

    /// Whether the exceptions cover this failure of `certificate` in a chain for `leaf`.
    func covers(_ failure: TrustFailure, about certificate: Certificate, of leaf: Certificate) -> Bool {
        match(leaf) && entries.contains(Entry(rule: failure.rule, certificate: certificate.sha256))
    }
}

// MARK: Bytes

extension TrustExceptions {
    /// The serialized form: a version byte (1), the leaf's SHA-256 (32 bytes), then for each
    /// failure the length of the rule's name (1 byte), the name, and the certificate's SHA-256 (32
    /// bytes).
    public var bytes: [UInt8] {
        let sorted = entries.sorted {
            ($0.rule.rawValue, Hexadecimal.text($0.certificate)) < ($1.rule.rawValue, Hexadecimal.text($1.certificate))
        }
        return [1] + leaf
            + sorted.flatMap { [UInt8($0.rule.rawValue.utf8.count)] + Array($0.rule.rawValue.utf8) + $0.certificate }
    }

    /// Parses ``bytes``; nil for anything else.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 33, bytes[0] == 1 else { return nil }
        leaf = Array(bytes[1..<33])
        var rest = bytes[33...]
        var entries: Set<Entry> = []
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) + 32,
                let rule = TrustRule(rawValue: String(decoding: rest.prefix(Int(length)), as: UTF8.self))
            else { return nil }
            rest = rest.dropFirst(Int(length))
            entries.insert(Entry(rule: rule, certificate: Array(rest.prefix(32))))
            rest = rest.dropFirst(32)
        }
        self.entries = entries
    }
}
