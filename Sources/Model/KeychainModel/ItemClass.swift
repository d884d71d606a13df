// SPDX-License-Identifier: Apache-2.0

/// The kinds of things a keychain holds. The raw value is Apple's `kSecClass…` string.
public enum ItemClass: String, CaseIterable, Sendable {
    case genericPassword = "genp"
    case internetPassword = "inet"
    case certificate = "cert"
    case key = "keys"
    /// A certificate and the private key that belongs to it: a view of those two, not a table.
    case identity = "idnt"

    /// The classes that have rows of their own.
    public static let stored: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]

    /// Apple's constant.
    public var constant: String {
        switch self {
        case .genericPassword: "kSecClassGenericPassword"
        case .internetPassword: "kSecClassInternetPassword"
        case .certificate: "kSecClassCertificate"
        case .key: "kSecClassKey"
        case .identity: "kSecClassIdentity"
        }
    }

    /// The number that stands for the class in the database and in authenticated data. Fixed for ever.
    public var number: UInt8 {
        switch self {
        case .genericPassword: 1
        case .internetPassword: 2
        case .certificate: 3
        case .key: 4
        case .identity: 5
        }
    }

    public init?(number: UInt8) {
        guard let match = Self.byNumber[number] else { return nil }
        self = match
    }

    private static let byNumber = Dictionary(uniqueKeysWithValues: allCases.map { ($0.number, $0) })
}

// MARK: Hashable

extension ItemClass: Hashable {
    /// By the number; see ``ItemAttribute`` for why.
    public static func == (one: ItemClass, other: ItemClass) -> Bool { one.number == other.number }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
