// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
public import KeychainModel

/// The keychains of a user that are searched, in their order, and the keychain that gets new items.
///
/// ```
/// default = build
/// search = build
/// search = login
/// ```
public struct KeychainList: Hashable, Sendable {
    /// The keychains that are searched, in this order, each one once.
    public private(set) var search: [KeychainName]
    /// The keychain of new items.
    public var defaultKeychain: KeychainName

    /// The list of a user who has changed nothing.
    public static let initial = KeychainList(search: [.login], defaultKeychain: .login)

    public static let maxCount = 64

    private init(search: [KeychainName], defaultKeychain: KeychainName) {
        (self.search, self.defaultKeychain) = (search, defaultKeychain)
    }

    /// Whether only the keychain that every user has is used.
    public var isInitial: Bool { self == .initial }

    /// Creates a list from values of a message.
    ///
    /// - Throws: errSecParam for more than ``maxCount`` keychains.
    public init(searching names: [KeychainName], defaultKeychain: KeychainName) throws(KeychainError) {
        self.init(search: [], defaultKeychain: defaultKeychain)
        try setSearch(names)
    }

    /// Replaces the search list. A name that is in it twice counts once.
    ///
    /// - Throws: errSecParam for more than ``maxCount`` keychains.
    public mutating func setSearch(_ names: [KeychainName]) throws(KeychainError) {
        var seen: Set<KeychainName> = []
        let unique = names.filter { seen.insert($0).inserted }
        guard unique.count <= Self.maxCount else {
            throw .parameter("a search list has at most \(Self.maxCount) keychains")
        }
        search = unique
    }

    /// Removes a keychain that does not exist any more.
    mutating func forget(_ name: KeychainName) {
        search.removeAll { $0 == name }
        if defaultKeychain == name { defaultKeychain = .login }
    }

    // MARK: The file

    static let fileName = "keychains.conf"
    /// More than ``maxCount`` paths need.
    static let maxFileLength = 80 << 10

    var text: String {
        "# latchkey: the default keychain, and those that are searched\n"
            + (["default = \(defaultKeychain)"] + search.map { "search = \($0)" }).joined(separator: "\n") + "\n"
    }

    /// Reads the output of ``text``.
    ///
    /// - Returns: nil for anything else, so that a damaged file is never half a list.
    init?(parsing bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var search: [KeychainName] = []
        var chosen: KeychainName?
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1).map { String($0.trimmingSpaces) }
            guard parts.count == 2, let name = KeychainName(parts[1]) else { return nil }
            switch parts[0] {
            case "search": search.append(name)
            case "default" where chosen == nil: chosen = name
            default: return nil
            }
        }
        guard let chosen, search.count <= Self.maxCount, Set(search).count == search.count else { return nil }
        self.init(search: search, defaultKeychain: chosen)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var rest = self
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}
