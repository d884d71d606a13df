// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxSystem

/// The administrator's files that grant access groups to callers that the kernel attests:
/// `/etc/latchkey/entitlements.d/*.plist`.
///
/// Each is a property list with Apple's keys. `latchkey-subject` in it names the callers that it is about; see
/// Documentation/Formats/entitlements.md. The directory and the files must belong to root and be writable only by root;
/// any other file grants nothing. A file can also reserve prefixes of claimed groups for an executable.
public final class EntitlementsDirectory: Sendable {
    /// One file: the callers that it is about, and the groups that it grants.
    struct Rule: Sendable, Equatable {
        var file: String
        var user: UInt32?
        var unit: String?
        var label: String?
        var groups: [String]
        /// The prefixes of claimed groups that only the executables below may have.
        var prefixes: [String] = []
        /// The path of an executable, or of a directory of them with a slash at its end.
        var executable: String?

        /// Whether the rule grants groups to callers, and does not only reserve prefixes.
        var grants: Bool { user != nil || unit != nil || label != nil }

        func reserves(_ group: String) -> Bool { prefixes.contains { group.utf8.starts(with: $0.utf8) } }

        func isAbout(_ path: String) -> Bool {
            guard let executable else { return false }
            return executable.hasSuffix("/") ? path.utf8.starts(with: executable.utf8) : path == executable
        }
    }

    private struct State {
        var rules: [Rule] = []
        var problems: [String] = []
        /// Why there may be reservations that are not known; nil if there are none.
        var unknownReservations: String?
        /// The state of the directory and the files when they were read.
        var stamp: [FileStatus.Stamp] = []
        /// In seconds since boot.
        var checkedAt: UInt64?
    }

    private let path: String
    private let owner: UInt32
    private let state = SystemMutex(State())

    public static let systemPath = "/etc/latchkey/entitlements.d"
    /// The files of this machine.
    public static let system = EntitlementsDirectory()

    /// - Parameters:
    ///   - path: the directory; it may be missing.
    ///   - owner: the user that must own the directory and all files: root, except in tests.
    public init(_ path: String = systemPath, owner: UInt32 = 0) {
        self.path = path
        self.owner = owner
    }

    /// The errors in files that are ignored.
    public var problems: [String] {
        refresh()
        return state.withLock { $0.problems }
    }

    /// Every rule that grants groups, in the order of the file names.
    var rules: [Rule] {
        refresh()
        return state.withLock { $0.rules.filter(\.grants) }
    }

    /// Returns, of these claimed groups, those that are reserved for other executables, each with the file that says so.
    /// If a reservation cannot be read, every group is one.
    ///
    /// - Parameter executable: nil if it is not known.
    func withheld(_ groups: [String], from executable: String?) -> [String: String] {
        guard !groups.isEmpty else { return [:] }
        refresh()
        let (rules, unknown) = state.withLock { ($0.rules, $0.unknownReservations) }
        if let unknown { return Dictionary(groups.map { ($0, unknown) }) { first, _ in first } }
        var withheld: [String: String] = [:]
        for group in groups {
            let reserving = rules.filter { $0.reserves(group) }
            guard let first = reserving.first else { continue }
            let isOwner = executable.map { path in reserving.contains { $0.isAbout(path) } } ?? false
            if !isOwner { withheld[group] = first.file }
        }
        return withheld
    }

    /// Reads the files again if they have changed; checks at most once a second.
    private func refresh() {
        let now = BootClock.system.now() / 1_000_000_000
        state.withLock { state in
            guard state.checkedAt != now else { return }
            state.checkedAt = now
            guard let names = fileNames() else {
                // Keep the known rules. There may be others, so report a problem until the
                // directory can be read.
                (state.problems, state.stamp) = (["\(path): the directory cannot be read"], [])
                state.unknownReservations = path
                return
            }
            let stamp = ([path] + names.map { "\(path)/\($0)" }).map { FileStatus.stamp(of: $0) }
            guard stamp != state.stamp else { return }
            state.stamp = stamp
            (state.rules, state.problems, state.unknownReservations) = read(names)
            // Read again next time: the cause may go away without a change of the file, such as a
            // lack of descriptors or a user that was not found.
            if !state.problems.isEmpty { state.stamp = [] }
        }
    }

    /// Returns the names of the property lists; nil if the directory exists but cannot be read.
    private func fileNames() -> [String]? {
        do throws(SystemError) {
            guard case .some = try FileStatus.of(path) else { return [] }
        } catch {
            return nil
        }
        guard let names = try? FileManager().contentsOfDirectory(atPath: path) else { return nil }
        return names.filter { $0.hasSuffix(".plist") && !$0.hasPrefix(".") }.sorted()
    }

    private func read(_ names: [String]) -> ([Rule], [String], unknownReservations: String?) {
        var (rules, problems): ([Rule], [String]) = ([], [])
        var unknown: String?
        do throws(SystemError) {
            guard let status = try FileStatus.of(path) else { return ([], [], nil) }
            try status.requireWrittenOnly(by: owner, path: path)
        } catch {
            return ([], [error.description], nil)
        }
        for name in names {
            do throws(RuleError) {
                rules.append(try rule("\(path)/\(name)"))
            } catch {
                problems.append("\(path)/\(name): \(error.problem)")
                if error.mayReserve, unknown == nil { unknown = "\(path)/\(name)" }
            }
        }
        return (rules, problems, unknown)
    }

    private struct RuleError: Error {
        var problem: String
        /// Whether root may have reserved groups in this file.
        var mayReserve = false
    }

    private func rule(_ file: String) throws(RuleError) -> Rule {
        do throws(SystemError) {
            guard let status = try FileStatus.ofLink(file), status.kind == .file else {
                throw SystemError("read", path: file, code: EINVAL)
            }
            try status.requireWrittenOnly(by: owner, path: file)
        } catch {
            throw RuleError(problem: error.description)
        }
        let list: PropertyListValue
        do throws(PropertyListError) {
            list = try PropertyListReader.read(file: file, limit: Self.maxLength)
        } catch {
            throw RuleError(problem: error.description, mayReserve: true)
        }
        let reserves = list[Self.prefixesKey] != nil
        do throws(RuleError) {
            let subject = try Subject(list)
            guard !reserves else { return try subject.reservation(file, list) }
            return try subject.rule(file, groups: Entitlements(list).groups)
        } catch {
            throw RuleError(problem: error.problem, mayReserve: reserves)
        }
    }

    private static let prefixesKey = "latchkey-reserved-prefixes"

    /// 1 MiB.
    private static let maxLength = 1 << 20
}

// MARK: The property list

extension EntitlementsDirectory {
    /// The value of `latchkey-subject`: the callers that a rule is about.
    private struct Subject {
        let words: [String: String]

        init(_ list: PropertyListValue) throws(RuleError) {
            guard let members = list["latchkey-subject"]?.dictionary else {
                throw RuleError(problem: "expected a dictionary under latchkey-subject")
            }
            words = members.compactMapValues(\.string)
            guard words.count == members.count else {
                throw RuleError(problem: "expected only strings in latchkey-subject")
            }
        }

        /// The rule of a file with `latchkey-reserved-prefixes`.
        func reservation(_ file: String, _ list: PropertyListValue) throws(RuleError) -> Rule {
            guard Set(words.keys) == ["executable"], let executable = words["executable"], executable.hasPrefix("/")
            else {
                throw RuleError(
                    problem:
                        "a reservation requires an absolute path under executable in latchkey-subject, and nothing else there"
                )
            }
            guard Entitlements(list).groups.isEmpty else {
                throw RuleError(problem: "a file that reserves prefixes grants no groups: use two files")
            }
            guard let prefixes = list[EntitlementsDirectory.prefixesKey]?.strings, !prefixes.isEmpty,
                !prefixes.contains("")
            else { throw RuleError(problem: "expected strings under latchkey-reserved-prefixes, none of them empty") }
            return Rule(file: file, groups: [], prefixes: prefixes, executable: executable)
        }

        func rule(_ file: String, groups: [String]) throws(RuleError) -> Rule {
            var rule = Rule(file: file, groups: groups)
            for (name, value) in words {
                switch name {
                case "user":
                    guard let user = SystemUsers.number(of: value) else {
                        throw RuleError(problem: "user '\(value)' not found")
                    }
                    rule.user = user
                case "unit": rule.unit = value
                case "label": rule.label = value
                case "label-is-confined":
                    guard value == "yes" else {
                        throw RuleError(problem: "label-is-confined must be 'yes', found '\(value)'")
                    }
                default: throw RuleError(problem: "unknown key '\(name)' in latchkey-subject")
                }
            }
            guard rule.user != nil || rule.unit != nil || rule.label != nil else {
                throw RuleError(problem: "latchkey-subject must name a user, a unit or a label")
            }
            // A program that can enter a label's domain, or trace a process in it, has that label's rights. Only the
            // administrator knows the labels that prevent that.
            guard rule.label == nil || words["label-is-confined"] == "yes" else {
                throw RuleError(
                    problem:
                        "a label requires label-is-confined: unconfined programs must neither enter it nor trace it"
                )
            }
            return rule
        }
    }
}
