// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
@testable import LatchkeyService
import LinuxSystem

/// The input that the daemon reads about a caller: files of /proc, of a sandbox, of the
/// administrator. The first byte selects the kind, the rest is the content. Shared by the fuzzer
/// and by the test that replays its corpus.
enum CallerInput {
    /// - Returns: whether the input named a sandbox, a group or a number, and a fault, if there is
    ///   one.
    static func read(_ bytes: [UInt8], in directory: String) -> (isNamed: Bool, fault: String?) {
        guard let choice = bytes.first else { return (false, nil) }
        let rest = Array(bytes.dropFirst())
        let text = String(decoding: rest, as: UTF8.self)
        switch choice % 6 {
        case 0:
            return checked(
                SandboxIdentity.read(group: ControlGroup(path: text), flatpakInfo: nil, label: nil, isHidden: false))
        case 1: return checked(SandboxIdentity(label: text))
        case 2: return checked(SandboxIdentity(flatpakInfo: text))
        case 3: return process(rest, in: directory)
        case 4: return entitlements(rest)
        default: return rules(rest, in: directory)
        }
    }

    /// A name must be usable as an access group, and must not be a reserved one.
    private static func checked(_ sandbox: SandboxIdentity?) -> (isNamed: Bool, fault: String?) {
        guard let sandbox, let name = sandbox.application else { return (false, nil) }
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte)
                || "-._".utf8.contains(byte)
        }
        guard isPlain, !name.isEmpty, name.utf8.count <= 255 else {
            return (true, "a sandbox is called \(name.debugDescription)")
        }
        return (true, nil)
    }

    /// The same content for every file that is read about a process: `stat`, `cgroup`, `status`,
    /// `attr/current`, `root/.flatpak-info`. A NUL ends each but the last.
    private static func process(_ bytes: [UInt8], in directory: String) -> (isNamed: Bool, fault: String?) {
        let path = "\(directory)/1"
        for folder in [path, "\(path)/attr", "\(path)/root"] { mkdir(folder, 0o700) }
        let parts = bytes.split(separator: 0, maxSplits: 4, omittingEmptySubsequences: false)
        for (name, content) in zip(["stat", "cgroup", "status", "attr/current", "root/.flatpak-info"], parts) {
            write(Array(content), to: "\(path)/\(name)")
        }
        let reader = CallerReader(commands: [], entitlements: nil, processes: directory, users: SystemUsers())
        let reading = reader.read(user: 1000, process: 1, claim: CallerIdentity(executable: "/usr/bin/example"))
        _ = reader.facts(reading, hasHandle: false)
        let isNamed = ProcessDirectory(1, root: directory).startTime != nil || reading.unit != nil
        let outcome = checked(reading.sandbox)
        if reading.sandbox != nil, reader.identity(reading).sandbox == nil {
            return (true, "a sandbox is not passed on to the authorizer")
        }
        return (outcome.isNamed || isNamed, outcome.fault)
    }

    private static func entitlements(_ bytes: [UInt8]) -> (isNamed: Bool, fault: String?) {
        guard let list = try? PropertyListReader.read(bytes) else { return (false, nil) }
        let groups = Entitlements(list).groups
        return (
            !groups.isEmpty,
            groups.contains("") || Set(groups).count != groups.count ? "groups are empty or duplicated" : nil
        )
    }

    private static func rules(_ bytes: [UInt8], in directory: String) -> (isNamed: Bool, fault: String?) {
        let path = "\(directory)/entitlements.d"
        mkdir(path, 0o755)
        write(bytes, to: "\(path)/a.plist")
        let rules = EntitlementsDirectory(path, owner: geteuid()).rules
        let hasNoSubject = rules.contains { $0.user == nil && $0.unit == nil && $0.label == nil }
        return (!rules.isEmpty, hasNoSubject ? "a rule has no subject" : nil)
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { return }
        _ = Glibc.write(file, bytes, bytes.count)
        close(file)
    }
}
