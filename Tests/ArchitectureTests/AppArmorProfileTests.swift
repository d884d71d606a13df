// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Documentation/Decisions/0071-apparmor.md.
@Suite("AppArmor profile")
struct AppArmorProfileTests {
    @Test("The profile allows every path of Latchkey's own directories that the sources name")
    func paths() throws {
        let profile = try Profile()
        let named = try Self.namedPaths()
        #expect(named.isSuperset(of: ["/var/lib/latchkey", "/run/latchkey/socket", "/etc/latchkey/daemon.conf"]))
        let missing = named.filter { profile.rights(to: $0).isEmpty && profile.rights(to: "\($0)/").isEmpty }
        #expect(missing == Self.ofClients)
    }

    /// The paths that only programs read: their configuration, and the administrator's trust settings.
    private static let ofClients: Set = ["/etc/latchkey/client.conf", #"/etc/latchkey/\(name)"#]

    @Test("Keychains are read, written, locked and linked, and nothing else of Latchkey's is written but the socket")
    func rights() throws {
        let profile = try Profile()
        let home = "/var/lib/latchkey/users/1000"
        for path in ["\(home)/data/keychain.db", "\(home)/state/device.key", "\(home)/data/files/#4711"] {
            #expect(profile.rights(to: path).isSuperset(of: "rwkl"), "\(path)")
        }
        #expect(profile.rights(to: "/run/latchkey/socket").isSuperset(of: "rw"))
        #expect(profile.rights(to: "/run/latchkey/socket.lock").isSuperset(of: "rwk"))
        for path in ["daemon.conf", "entitlements.d/", "entitlements.d/backup.plist"] {
            #expect(profile.rights(to: "/etc/latchkey/\(path)") == ["r"], "\(path)")
        }
        for path in ["/home/alice/.ssh/id_ed25519", "/etc/shadow", "/var/lib/fprint/alice", "/usr/bin/systemd-creds"] {
            #expect(profile.rights(to: path).isEmpty, "\(path)")
        }
    }

    @Test("The system's unit selects the profile by its name, also where it is not loaded, and the user's does not")
    func unit() throws {
        let profile = try Profile()
        #expect(profile.name == Profile.file)
        #expect(try Self.text("systemd/system/latchkeyd.service").contains("\nAppArmorProfile=-\(profile.name)\n"))
        #expect(try !Self.text("systemd/user/latchkeyd.service").contains("AppArmorProfile"))
    }

    @Test("Paths that have no name for AppArmor are allowed, and no capability and no program is")
    func flags() throws {
        let profile = try Profile()
        // Without them, a socket of systemd and a file that is not yet linked are errors in either mode.
        #expect(profile.flags.isSuperset(of: ["attach_disconnected", "mediate_deleted"]))
        for word in ["capability", "deny", "change_profile", "network", "mount"] {
            #expect(!profile.lines.contains { $0.hasPrefix("\(word) ") || $0 == "\(word)," }, "\(word)")
        }
        #expect(!profile.rules.contains { $0.rights.contains("x") })
        // The last word is that of the machine.
        #expect(profile.lines.suffix(2) == ["include if exists <local/\(Profile.file)>", "}"])
    }

    /// The literals that are paths below the three directories.
    private static func namedPaths() throws -> Set<String> {
        let literal = #/"(\/(?:etc|run|var\/lib)\/latchkey(?:\/[^"\s]*)?)"/#
        return Set(try Sources.all().flatMap { $0.withoutComments.matches(of: literal).map { String($0.1) } })
    }

    fileprivate static func text(_ file: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: "Packaging/\(file)"), encoding: .utf8)
    }
}

/// The profile, as far as the tests read it: one rule a line.
private struct Profile {
    static let file = "latchkeyd-system"

    let name: String
    let flags: Set<String>
    /// Without comments, empty lines and indentation.
    let lines: [String]
    let rules: [(path: Regex<Substring>, rights: String)]

    init() throws {
        lines = try AppArmorProfileTests.text("apparmor/\(Self.file)").split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.hasPrefix("#") }
        let head = try #require(lines.compactMap { $0.wholeMatch(of: #/profile (\S+) flags=\((.*)\) \{/#) }.first)
        name = String(head.1)
        flags = Set(head.2.components(separatedBy: ", "))
        rules = try lines.compactMap { line in
            guard let rule = line.wholeMatch(of: #/((?:\/|@\{)\S*) ([a-z]+),/#) else { return nil }
            return (try Regex(Self.expression(String(rule.1)), as: Substring.self), String(rule.2))
        }
    }

    /// The rights of all rules that match the path.
    func rights(to path: String) -> Set<Character> {
        Set(rules.filter { path.wholeMatch(of: $0.path) != nil }.flatMap(\.rights))
    }

    /// Returns the regular expression of a glob (apparmor.d(5)): `**`, `*`, `[0-9]` and `{a,b}`.
    private static func expression(_ glob: String) -> String {
        let steps = [
            ("@{run}", "/run"), ("@{PROC}", "/proc"), ("@{sys}", "/sys"), ("@{pid}", "[0-9]+"), (".", "\\."),
            ("**", "\u{1}"), ("*", "[^/]*"), ("\u{1}", ".*"), ("{", "(?:"), ("}", ")"), (",", "|"),
        ]
        return steps.reduce(glob) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
