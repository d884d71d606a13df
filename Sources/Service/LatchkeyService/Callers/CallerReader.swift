// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// Reads the identity of a caller from the kernel, from the administrator's files, and otherwise from the program's own
/// claim.
public struct CallerReader: Sendable {
    private let processes: String
    private let entitlements: EntitlementsDirectory?
    private let reservations: EntitlementsDirectory
    private let users: SystemUsers
    private let commands: [String]

    /// - Parameters:
    ///   - commands: the paths of the programs that act for the user: the command, and the Secret Service.
    ///   - entitlements: nil if callers have the same rights as the daemon, so that no attestation
    ///     is possible.
    public init(commands: [String], entitlements: EntitlementsDirectory?) {
        self.init(commands: commands, entitlements: entitlements, processes: "/proc", users: SystemUsers())
    }

    /// - Parameter reservations: nil for the files of this machine, or those of `entitlements`.
    init(
        commands: [String], entitlements: EntitlementsDirectory?, reservations: EntitlementsDirectory? = nil,
        processes: String, users: SystemUsers
    ) {
        self.commands = commands
        self.entitlements = entitlements
        self.reservations = reservations ?? entitlements ?? .system
        self.processes = processes
        self.users = users
    }

    /// The facts that were read about a process.
    struct Reading {
        var user: UInt32
        var process: Int32
        /// From /proc; nil if it may not be read, for example for a process of another user, or one
        /// that forbids it.
        var executable: String?
        var unit: SystemdUnit?
        var label: String?
        var sandbox: SandboxIdentity?
        /// The program's claim about itself.
        var claim: CallerIdentity
    }

    /// Reads the current state of a process.
    func read(user: UInt32, process: Int32, claim: CallerIdentity) -> Reading {
        // Process number 0 is a process of another PID namespace.
        guard process > 0 else { return Reading(user: user, process: process, claim: claim) }
        let directory = ProcessDirectory(process, root: processes)
        let group = directory.controlGroup.map(ControlGroup.init(path:))
        let label = directory.securityLabel
        return Reading(
            user: user, process: process, executable: directory.executable, unit: group?.unit, label: label,
            sandbox: sandbox(of: directory, group: group, label: label), claim: claim)
    }

    private func sandbox(of directory: ProcessDirectory, group: ControlGroup?, label: String?) -> SandboxIdentity? {
        switch directory.flatpakInfo {
        case .found(let text): .read(group: group, flatpakInfo: text, label: label, isHidden: false)
        case .missing: .read(group: group, flatpakInfo: nil, label: label, isHidden: false)
        // A process that cannot be inspected, and runs in namespaces of its own, may have the file.
        case .unreadable: .read(group: group, flatpakInfo: nil, label: label, isHidden: directory.isNested)
        }
    }

    /// Returns the open directory of the process in /proc, to check quickly whether it still runs
    /// the same program.
    func directory(of process: Int32) -> OpenProcessDirectory? { ProcessDirectory(process, root: processes).open() }

    /// Returns the identity of the caller for the authorizer.
    func identity(_ reading: Reading) -> CallerIdentity {
        var identity = reading.claim
        if let executable = reading.executable {
            identity = ProgramIdentity.identity(of: executable, reservations: reservations)
            identity.isUserCommand = commands.contains(executable)
        } else {
            ProgramIdentity.withhold(from: &identity, nil, reservations)
        }
        identity.process = CallerIdentity.ProcessIdentity(user: reading.user, process: reading.process)
        // A process outside of any sandbox can forge the identifier of one. That is safe, because a
        // sandbox only removes rights.
        if let sandbox = reading.sandbox {
            identity.sandbox = sandbox.scope
            identity.isUserCommand = false
        }
        identity.attestedGroups = attestedGroups(reading)
        return identity
    }

    /// Whether there are rules. Rules may depend on facts, beside the executable, that can change
    /// while a connection is open.
    var hasRules: Bool { entitlements?.rules.isEmpty == false }

    /// Returns whether a process of this user may have an attested group, so that the user's
    /// keychain may hold items that no claim reaches. A rule that could not be read counts as a
    /// rule about every user.
    public func canAttest(processesOf user: UInt32) -> Bool {
        guard let entitlements else { return false }
        return !entitlements.problems.isEmpty
            || entitlements.rules.contains { rule in
                guard rule.user == nil || rule.user == user else { return false }
                // A unit attests nothing for users that can log in.
                return rule.unit == nil || SystemUsers.isServiceRange(user)
            }
    }

    private func attestedGroups(_ reading: Reading) -> [String]? {
        guard let rules = entitlements?.rules else { return nil }
        let matching = rules.filter { rule in
            if let user = rule.user, user != reading.user { return false }
            if let unit = rule.unit, !isAttested(reading.unit, of: reading.user) || reading.unit?.name != unit {
                return false
            }
            if let label = rule.label, reading.label != label { return false }
            return true
        }
        guard !matching.isEmpty else { return nil }
        var seen: Set<String> = []
        return matching.flatMap(\.groups).filter { seen.insert($0).inserted }
    }

    private func isAttested(_ unit: SystemdUnit?, of user: UInt32) -> Bool {
        unit?.isOfSystem == true && users.isService(user)
    }

    /// Returns the facts about this process, the caller of its own keychain.
    public func currentProcessFacts(_ caller: CallerIdentity) -> [CallerReport.Fact] {
        var reading = read(user: getuid(), process: getpid(), claim: caller)
        reading.executable = nil
        return facts(reading, hasHandle: false).filter { $0.name != "process" }
    }

    /// Returns the facts, each with its grade and source.
    func facts(_ reading: Reading, hasHandle: Bool) -> [CallerReport.Fact] {
        typealias Fact = CallerReport.Fact
        var facts = [Fact("user", "\(reading.user)", .attested, source: "the kernel, when the connection was made")]
        facts.append(
            Fact(
                "process", reading.process > 0 ? "\(reading.process)" : "of another namespace", .claimed,
                source: hasHandle
                    ? "the kernel's descriptor of the process" : "the number and the start time of the process"))
        if let executable = reading.executable {
            facts.append(Fact("executable", executable, .claimed, source: "/proc, at this request"))
        } else {
            facts.append(Fact("executable", reading.claim.executable, .claimed, source: "the program says so"))
        }
        if let unit = reading.unit {
            let isAttested = isAttested(unit, of: reading.user)
            facts.append(
                Fact(
                    "unit", unit.name, isAttested ? .attested : .claimed,
                    source: isAttested ? "its control group; no login is possible as its user" : "its control group"))
        }
        if let label = reading.label {
            let isAttested = entitlements?.rules.contains { $0.label == label } == true
            facts.append(
                Fact(
                    "label", label, isAttested ? .attested : .claimed,
                    source: isAttested
                        ? "the security module; the administrator declares it confined" : "the security module"))
        }
        if let sandbox = reading.sandbox {
            let name = sandbox.application ?? "of an unknown application"
            facts.append(
                Fact(
                    sandbox.kind.rawValue, name, .claimed,
                    source: "its control group, label or root; it only restricts"))
        }
        let declared = identity(reading).declaredGroups
        facts.append(
            Fact(
                "identity", declared.map { $0.isEmpty ? "without groups" : $0.joined(separator: ", ") } ?? "none",
                .claimed,
                source: reading.executable == nil ? "the program says so" : "the property lists beside the executable"))
        return facts
    }
}
