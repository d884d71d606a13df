// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The access groups in a property list with Apple's keys.
struct Entitlements {
    /// In the order of keychain-behaviour §3.8.1: access groups, associated identifiers, the
    /// application's own identifier, application groups; without duplicates.
    let groups: [String]

    /// - Parameter list: values of the wrong type are ignored.
    init(_ list: PropertyListValue) {
        func texts(_ key: String) -> [String] { list[key]?.strings ?? [] }
        let identifier = (list["application-identifier"] ?? list["com.apple.application-identifier"])?.string
        let all =
            texts("keychain-access-groups") + texts("com.apple.developer.associated-application-identifier")
            + (identifier.map { [$0] } ?? [])
            + texts("com.apple.security.application-groups")
        var seen: Set<String> = []
        groups = all.filter { !$0.isEmpty && seen.insert($0).inserted }
    }
}
