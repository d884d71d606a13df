// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import KeychainModel

/// What a program declares of itself in property lists beside its executable.
///
/// `EXECUTABLE.entitlements` has Apple's keys; without one, an `Info.plist` with `CFBundleIdentifier` gives a single group of that name.
/// A program without either is nobody in particular. A file that cannot be read as a property list declares an identity without any
/// group: the program is then refused rather than let into the shared group.
enum ProgramIdentity {
    static func ofThisProcess() -> CallerIdentity {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let executable = installedPath(of: link ?? CommandLine.arguments.first ?? "?")
        return CallerIdentity(executable: executable, declaredGroups: declaredGroups(of: executable))
    }

    /// The path without the mark that the kernel puts behind it once the file was replaced, as an upgrade of a running program does.
    static func installedPath(of link: String) -> String {
        let mark = " (deleted)"
        guard link.hasSuffix(mark), !FileManager.default.fileExists(atPath: link) else { return link }
        return String(link.dropLast(mark.count))
    }

    /// The groups that the executable's property lists declare, in Apple's order; nil where there are none of either kind.
    static func declaredGroups(of executable: String) -> [String]? {
        if let entitlements = propertyList(at: "\(executable).entitlements") {
            return groups(entitlements: entitlements)
        }
        let directory = (executable as NSString).deletingLastPathComponent
        guard let info = propertyList(at: "\(directory)/Info.plist") else { return nil }
        // An Info.plist without an identifier declares nothing; one that cannot be read declares an identity nobody knows.
        guard !info.isEmpty else { return [] }
        return (info["CFBundleIdentifier"] as? String).map { $0.isEmpty ? [] : [$0] }
    }

    /// keychain-behaviour §3.8.1: access groups, associated identifiers, the application's own identifier, application groups.
    private static func groups(entitlements: [String: Any]) -> [String] {
        var groups: [String] = []
        groups += entitlements["keychain-access-groups"] as? [String] ?? []
        groups += entitlements["com.apple.developer.associated-application-identifier"] as? [String] ?? []
        if let identifier = entitlements["application-identifier"] ?? entitlements["com.apple.application-identifier"] {
            groups += [identifier as? String].compactMap { $0 }
        }
        groups += entitlements["com.apple.security.application-groups"] as? [String] ?? []
        var seen: Set<String> = []
        return groups.filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// The dictionary in a property list; nil where there is no such file, empty where it cannot be read as one.
    private static func propertyList(at path: String) -> [String: Any]? {
        guard let data = FileManager.default.contents(atPath: path) else {
            // Also a symbolic link that leads nowhere is there.
            return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT ? [:] : nil
        }
        let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        return list as? [String: Any] ?? [:]
    }
}
