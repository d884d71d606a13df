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
        return identity(of: executable, reservations: .system)
    }

    /// Returns the identity of a program, as far as its executable decides it.
    static func identity(of executable: String, reservations: EntitlementsDirectory) -> CallerIdentity {
        var identity = CallerIdentity(executable: executable, declaredGroups: declaredGroups(of: executable))
        withhold(from: &identity, executable, reservations)
        return identity
    }

    /// Withholds the groups that root has reserved for other programs.
    ///
    /// - Parameter executable: nil if it is not known, and the identity only the program's statement.
    static func withhold(
        from identity: inout CallerIdentity, _ executable: String?, _ reservations: EntitlementsDirectory
    ) {
        let groups = identity.declaredGroups ?? identity.ownGroup.map { [$0.name] } ?? []
        identity.withheldGroups = reservations.withheld(groups, from: executable)
    }

    /// Returns the groups that a file gives to a program, as they are decided when it runs.
    ///
    /// - Parameter path: a property list of entitlements, an `Info.plist`, or an executable with or without such files. Links
    ///   to an executable are resolved, as for a process.
    /// - Throws: errSecParam for a file that cannot be read, errSecDecode for one that is none of these.
    public static func report(on path: String) throws(KeychainError) -> CallerReport {
        let start: [UInt8]
        do throws(SystemError) {
            let file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
            start = try file.read(upTo: 8, path: path)
        } catch {
            throw .parameter(error.description)
        }
        guard !start.starts(with: "#!".utf8) else {
            throw KeychainError(
                .decode, "'\(path)' is a script: its interpreter is the program that has access groups",
                hint: "name the interpreter")
        }
        if start.starts(with: [0x7F, 0x45, 0x4C, 0x46]) {
            let resolved = realpath(path, nil)
            defer { free(resolved) }
            let executable = resolved.map { String(cString: $0) } ?? path
            return AccessPolicy.report(
                on: identity(of: executable, reservations: .system),
                facts: [
                    CallerReport.Fact("executable", executable, .claimed, source: "its property lists are beside it")
                ])
        }
        let list: PropertyListValue
        do throws(PropertyListError) { list = try PropertyListReader.read(file: path, limit: maxLength) } catch {
            throw KeychainError(.decode, "'\(path)' is no property list and no executable: \(error.description)")
        }
        let groups = Entitlements(list).groups
        let bundle = groups.isEmpty ? list["CFBundleIdentifier"]?.string.map { [$0] } : nil
        let suffix = ".entitlements"
        let executable = path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path
        var identity = CallerIdentity(executable: executable, declaredGroups: bundle ?? groups)
        withhold(from: &identity, executable, .system)
        let form = start.starts(with: "bplist".utf8) ? "a binary property list" : "a property list in XML"
        return AccessPolicy.report(on: identity, facts: [CallerReport.Fact("file", path, .claimed, source: form)])
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
