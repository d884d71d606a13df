// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The access groups that a property list with Apple's keys gives.
struct Entitlements: Decodable {
    /// keychain-behaviour §3.8.1: access groups, associated identifiers, the application's own identifier, application groups; each once.
    let groups: [String]

    private enum Key: String, CodingKey {
        case accessGroups = "keychain-access-groups"
        case associatedIdentifiers = "com.apple.developer.associated-application-identifier"
        case identifier = "application-identifier"
        case macIdentifier = "com.apple.application-identifier"
        case applicationGroups = "com.apple.security.application-groups"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        // A value of the wrong type gives nothing.
        func list(_ key: Key) -> [String] { (try? values.decode([String].self, forKey: key)) ?? [] }
        let key = values.contains(.identifier) ? Key.identifier : .macIdentifier
        let identifier = (try? values.decode(String.self, forKey: key)).map { [$0] } ?? []
        let all = list(.accessGroups) + list(.associatedIdentifiers) + identifier + list(.applicationGroups)
        var seen: Set<String> = []
        groups = all.filter { !$0.isEmpty && seen.insert($0).inserted }
    }
}

/// What an `Info.plist` says of a program.
struct BundleInformation: Decodable {
    let identifier: String?

    private enum Key: String, CodingKey { case identifier = "CFBundleIdentifier" }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        identifier = try? values.decode(String.self, forKey: .identifier)
    }
}
