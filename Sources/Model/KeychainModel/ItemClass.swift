// SPDX-License-Identifier: Apache-2.0

/// The classes of items in a keychain. The raw value is the value of Apple's `kSecClass…` constant.
public enum ItemClass: String, CaseIterable, Sendable {
    /// `kSecClassGenericPassword`.
    case genericPassword = "genp"
    /// `kSecClassInternetPassword`.
    case internetPassword = "inet"
    /// `kSecClassCertificate`.
    case certificate = "cert"
    /// `kSecClassKey`.
    case key = "keys"
    /// A certificate and its private key: a view of those two items, without rows of its own.
    case identity = "idnt"

    /// The classes that have rows of their own.
    public static let stored: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]

    /// The name of Apple's constant.
    public var constant: String {
        switch self {
        case .genericPassword: "kSecClassGenericPassword"
        case .internetPassword: "kSecClassInternetPassword"
        case .certificate: "kSecClassCertificate"
        case .key: "kSecClassKey"
        case .identity: "kSecClassIdentity"
        }
    }

    /// The number of the class in the database and in authenticated data. It never changes.
    public var number: UInt8 {
        switch self {
        case .genericPassword: 1
        case .internetPassword: 2
        case .certificate: 3
        case .key: 4
        case .identity: 5
        }
    }

    /// The class with this number in files and messages; nil for an unknown one.
    public init?(number: UInt8) {
        guard let match = Self.byNumber[number] else { return nil }
        self = match
    }

    private static let byNumber = Dictionary(uniqueKeysWithValues: allCases.map { ($0.number, $0) })
}

// MARK: Hashable

extension ItemClass: Hashable {
    /// Compares the number; ``ItemAttribute`` has the reason.
    public static func == (one: ItemClass, other: ItemClass) -> Bool { one.number == other.number }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
