// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// The identity that a program declares in property lists beside its executable.
///
/// `EXECUTABLE.entitlements` has Apple's keys. Without it, an `Info.plist` with
/// `CFBundleIdentifier` gives one group of that name. A program without either declares no
/// identity. A file that cannot be read as a property list declares an identity without any group:
/// the program is then refused, instead of getting the shared group.
public enum ProgramIdentity {
    public static func ofThisProcess() -> CallerIdentity {
        let executable = ProcessDirectory(getpid()).executable ?? ProcessArguments.all.first ?? "?"
        return CallerIdentity(executable: executable, declaredGroups: declaredGroups(of: executable))
    }

    /// Returns the groups that the executable's property lists declare, in Apple's order; nil if
    /// there is no property list.
    static func declaredGroups(of executable: String) -> [String]? {
        switch propertyList(at: entitlementsPath(executable)) {
        case .found(let list): return Entitlements(list).groups
        case .unreadable: return []
        case .missing: break
        }
        switch propertyList(at: informationPath(executable)) {
        case .found(let list): return list["CFBundleIdentifier"]?.string.map { $0.isEmpty ? [] : [$0] }
        case .unreadable: return []
        case .missing: return nil
        }
    }

    static func entitlementsPath(_ executable: String) -> String { "\(executable).entitlements" }
    static func informationPath(_ executable: String) -> String {
        "\(executable.lastIndex(of: "/").map { String(executable[..<$0]) } ?? ".")/Info.plist"
    }

    /// 1 MiB.
    private static let maxLength = 1 << 20

    private enum Outcome {
        case found(PropertyListValue)
        case unreadable
        case missing
    }

    private static func propertyList(at path: String) -> Outcome {
        // A dangling symbolic link counts as existing.
        guard faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT else { return .missing }
        guard let list = try? PropertyListReader.read(file: path, limit: maxLength) else { return .unreadable }
        return .found(list)
    }
}
