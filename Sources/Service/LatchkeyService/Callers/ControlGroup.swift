// SPDX-License-Identifier: Apache-2.0

/// The control group of a process, such as `/system.slice/backup.service` or
/// `/user.slice/…/app.slice/app-editor-1.scope` (cgroups(7)).
///
/// A user can create groups with any name below their own, so the outermost matching name decides.
struct ControlGroup: Equatable, Sendable {
    /// The names from the root down.
    let names: [String]

    /// - Parameter path: the path below the root of the unified hierarchy, as in
    ///   `/proc/PID/cgroup`.
    init(path: String) {
        names = path.split(separator: "/").map(String.init)
    }

    /// The systemd unit of the process; nil if no name is a unit.
    var unit: SystemdUnit? {
        let isOfSystem = names.first == "system.slice"
        let isUnit: (String) -> Bool = { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
        // A system service can create groups below its own, so the first unit counts. In a session,
        // services of the user's manager are below the manager's own unit, so the last one counts.
        let name = isOfSystem ? names.first(where: isUnit) : names.last(where: isUnit)
        return name.map { SystemdUnit(name: $0, isOfSystem: isOfSystem) }
    }

    /// The sandbox that a scope names: `app-flatpak-ID-INSTANCE.scope` (XDG desktop conventions),
    /// `snap.NAME.APP-….scope`.
    var sandbox: SandboxIdentity? {
        for name in names {
            if let sandbox = Self.flatpakScope(name) ?? Self.snapScope(name) { return sandbox }
        }
        return nil
    }

    private static func flatpakScope(_ name: String) -> SandboxIdentity? {
        guard let inner = name.between("app-flatpak-", ".scope") else { return nil }
        // systemd.unit(5): a hyphen inside a part of the name is written as \x2d.
        let parts = inner.split(separator: "-", omittingEmptySubsequences: false)
        let application = parts.dropLast().joined(separator: "-").replacing("\\x2d", with: "-")
        return SandboxIdentity(.flatpak, application: application)
    }

    private static func snapScope(_ name: String) -> SandboxIdentity? {
        guard let inner = name.between("snap.", ".scope") ?? name.between("snap.", ".service") else { return nil }
        return SandboxIdentity(
            .snap, application: inner.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init))
    }
}

/// A systemd unit.
struct SystemdUnit: Equatable, Sendable {
    let name: String
    /// Whether the system manager runs the unit, instead of a user's manager.
    let isOfSystem: Bool
}

extension String {
    /// Returns the text between a prefix and a suffix that do not overlap; nil if either is
    /// missing.
    fileprivate func between(_ prefix: String, _ suffix: String) -> String? {
        guard utf8.count >= prefix.utf8.count + suffix.utf8.count, hasPrefix(prefix), hasSuffix(suffix) else {
            return nil
        }
        return String(dropFirst(prefix.count).dropLast(suffix.count))
    }
}
