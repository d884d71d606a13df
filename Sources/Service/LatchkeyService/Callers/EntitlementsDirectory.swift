// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// The administrator's files that give access groups to callers whom the kernel attests: `/etc/latchkey/entitlements.d/*.plist`.
///
/// Each is a property list with Apple's keys, and says under `latchkey-subject` whom it is about; see Documentation/Formats/entitlements.md.
/// Directory and files belong to root and are written by nobody else; a file for which that does not hold gives nothing.
public final class EntitlementsDirectory: Sendable {
    /// One file: whom it is about, and the groups that it gives.
    struct Rule: Sendable, Equatable {
        var file: String
        var user: UInt32?
        var unit: String?
        var label: String?
        var groups: [String]
    }

    private struct State {
        var rules: [Rule] = []
        var problems: [String] = []
        /// What the directory looked like when it was read.
        var stamp: [FileStatus.Stamp] = []
        /// Seconds since the machine started.
        var checkedAt: UInt64?
    }

    private let path: String
    private let owner: UInt32
    private let state = Mutex(State())

    public static let systemPath = "/etc/latchkey/entitlements.d"

    /// - Parameters:
    ///   - path: the directory; it may be missing.
    ///   - owner: whom everything has to belong to: root, but for tests.
    public init(_ path: String = systemPath, owner: UInt32 = 0) {
        self.path = path
        self.owner = owner
    }

    /// What is wrong with files that are ignored.
    public var problems: [String] {
        refresh()
        return state.withLock { $0.problems }
    }

    /// Every rule, in the order of the files' names.
    var rules: [Rule] {
        refresh()
        return state.withLock { $0.rules }
    }

    /// Reads the files again where they have changed; looks at most once a second.
    private func refresh() {
        let now = BootClock.system.now() / 1_000_000_000
        state.withLock { state in
            guard state.checkedAt != now else { return }
            state.checkedAt = now
            guard let names = fileNames() else {
                // The rules that are known stay; that there may be others is a problem until the directory can be read.
                (state.problems, state.stamp) = (["\(path): the directory cannot be read"], [])
                return
            }
            let stamp = ([path] + names.map { "\(path)/\($0)" }).map { FileStatus.stamp(of: $0) }
            guard stamp != state.stamp else { return }
            state.stamp = stamp
            (state.rules, state.problems) = read(names)
            // What failed may pass without a change of the file, such as a missing descriptor or a user that was not found.
            if !state.problems.isEmpty { state.stamp = [] }
        }
    }

    /// nil where the directory is there and cannot be read.
    private func fileNames() -> [String]? {
        do throws(SystemError) {
            guard case .some = try FileStatus.of(path) else { return [] }
        } catch {
            return nil
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return nil }
        return names.filter { $0.hasSuffix(".plist") && !$0.hasPrefix(".") }.sorted()
    }

    private func read(_ names: [String]) -> ([Rule], [String]) {
        var (rules, problems): ([Rule], [String]) = ([], [])
        do throws(SystemError) {
            guard let status = try FileStatus.of(path) else { return ([], []) }
            try status.requireWrittenOnly(by: owner, path: path)
        } catch {
            return ([], [error.description])
        }
        for name in names {
            do throws(RuleError) {
                rules.append(try rule("\(path)/\(name)"))
            } catch {
                problems.append("\(path)/\(name): \(error.problem)")
            }
        }
        return (rules, problems)
    }

    private struct RuleError: Error { var problem: String }

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
            throw RuleError(problem: error.description)
        }
        return try Subject(list).rule(file, groups: Entitlements(list).groups)
    }

    /// 1 MiB.
    private static let maxLength = 1 << 20
}

// MARK: The property list

extension EntitlementsDirectory {
    /// What stands under `latchkey-subject`: whom a rule is about.
    private struct Subject {
        let words: [String: String]

        init(_ list: PropertyListValue) throws(RuleError) {
            guard let members = list["latchkey-subject"]?.dictionary else {
                throw RuleError(problem: "expected a dictionary under latchkey-subject")
            }
            words = members.compactMapValues(\.string)
            guard words.count == members.count else {
                throw RuleError(problem: "expected nothing but strings in latchkey-subject")
            }
        }

        func rule(_ file: String, groups: [String]) throws(RuleError) -> Rule {
            var rule = Rule(file: file, groups: groups)
            for (name, value) in words {
                switch name {
                case "user":
                    guard let user = SystemUsers.number(of: value) else {
                        throw RuleError(problem: "there is no user '\(value)'")
                    }
                    rule.user = user
                case "unit": rule.unit = value
                case "label": rule.label = value
                case "label-is-confined":
                    guard value == "yes" else {
                        throw RuleError(problem: "label-is-confined is '\(value)', expected is yes")
                    }
                default: throw RuleError(problem: "the subject has '\(name)', which is not known")
                }
            }
            guard rule.user != nil || rule.unit != nil || rule.label != nil else {
                throw RuleError(problem: "the subject names neither a user, nor a unit, nor a label")
            }
            // Whoever can enter a domain, or trace it, is whoever runs in it: only the administrator knows.
            guard rule.label == nil || words["label-is-confined"] == "yes" else {
                throw RuleError(
                    problem:
                        "a label counts only with label-is-confined: unconfined programs can neither enter it nor trace it"
                )
            }
            return rule
        }
    }
}
