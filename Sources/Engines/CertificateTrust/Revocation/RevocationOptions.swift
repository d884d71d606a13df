// SPDX-License-Identifier: Apache-2.0

/// How revocation is checked. The values are Apple's `kSecRevocation…`.
public struct RevocationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let ocsp = RevocationOptions(rawValue: 1)
    public static let lists = RevocationOptions(rawValue: 2)
    /// CRLs are fetched before OCSP responses.
    public static let prefersLists = RevocationOptions(rawValue: 4)
    /// The evaluation fails unless every certificate is confirmed not revoked.
    public static let requiresPositiveResponse = RevocationOptions(rawValue: 8)
    /// No evidence is fetched.
    public static let isOffline = RevocationOptions(rawValue: 16)

    /// Whether this kind of evidence is used; both are if neither is named.
    func allows(_ method: RevocationOptions) -> Bool { isDisjoint(with: [.ocsp, .lists]) || contains(method) }

    static let all: RevocationOptions = [.ocsp, .lists, .prefersLists, .requiresPositiveResponse, .isOffline]

    /// Whether all flags are known.
    public var isUnderstood: Bool { subtracting(.all).isEmpty }
}
