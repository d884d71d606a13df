// SPDX-License-Identifier: Apache-2.0

/// How revocation is looked at. The numbers are Apple's `kSecRevocation…`.
public struct RevocationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let ocsp = RevocationOptions(rawValue: 1)
    public static let lists = RevocationOptions(rawValue: 2)
    /// Lists before OCSP, where there are both.
    public static let prefersLists = RevocationOptions(rawValue: 4)
    /// Nothing is trusted of which it is not known that it is not revoked.
    public static let requiresPositiveResponse = RevocationOptions(rawValue: 8)
    /// Nothing is fetched.
    public static let isOffline = RevocationOptions(rawValue: 16)

    /// Whether this way of asking counts; both do where neither is named.
    func allows(_ method: RevocationOptions) -> Bool { isDisjoint(with: [.ocsp, .lists]) || contains(method) }

    static let all: RevocationOptions = [.ocsp, .lists, .prefersLists, .requiresPositiveResponse, .isOffline]

    /// Whether every flag is one that is known.
    public var isUnderstood: Bool { subtracting(.all).isEmpty }
}
