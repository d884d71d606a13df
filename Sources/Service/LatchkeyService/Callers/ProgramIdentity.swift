// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// What a program declares of itself in property lists beside its executable.
///
/// `EXECUTABLE.entitlements` has Apple's keys; without one, an `Info.plist` with `CFBundleIdentifier` gives a single group of that name.
/// A program without either is nobody in particular. A file that cannot be read as a property list declares an identity without any
/// group: the program is then refused rather than let into the shared group.
public enum ProgramIdentity {
    public static func ofThisProcess() -> CallerIdentity {
        let executable = ProcessDirectory(getpid()).executable ?? CommandLine.arguments.first ?? "?"
        return CallerIdentity(executable: executable, declaredGroups: declaredGroups(of: executable))
    }

    /// The groups that the executable's property lists declare, in Apple's order; nil where there are none of either kind.
    static func declaredGroups(of executable: String) -> [String]? {
        switch propertyList(Entitlements.self, at: entitlementsPath(executable)) {
        case .found(let entitlements): return entitlements.groups
        case .unreadable: return []
        case .missing: break
        }
        switch propertyList(BundleInformation.self, at: informationPath(executable)) {
        case .found(let info): return info.identifier.map { $0.isEmpty ? [] : [$0] }
        case .unreadable: return []
        case .missing: return nil
        }
    }

    static func entitlementsPath(_ executable: String) -> String { "\(executable).entitlements" }
    static func informationPath(_ executable: String) -> String {
        "\(executable.lastIndex(of: "/").map { String(executable[..<$0]) } ?? ".")/Info.plist"
    }

    private static let greatestLength = 1 << 20

    private enum Outcome<List> {
        case found(List)
        case unreadable
        case missing
    }

    private static func propertyList<List: Decodable>(_: List.Type, at path: String) -> Outcome<List> {
        // Also a symbolic link that leads nowhere is there.
        guard faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT else { return .missing }
        // A pipe, a device, or something huge is no property list, and is not waited for.
        guard let status = (try? FileStatus.of(path)) ?? nil, status.kind == .file, status.size <= greatestLength else {
            return .unreadable
        }
        guard let data = FileManager.default.contents(atPath: path), let list = try? PropertyListText.decode(List.self, from: data)
        else {
            return .unreadable
        }
        return .found(list)
    }
}
