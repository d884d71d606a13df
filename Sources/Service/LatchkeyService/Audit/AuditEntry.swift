// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// One decision of the keychain: which caller asked for what, and what came of it. Never a secret, and of an item no attribute but its group.
///
/// What it keeps of names from outside has a bounded length.
public struct AuditEntry: Sendable {
    /// The calling program.
    let program: AuditName
    /// How the caller's groups are known.
    let grade: AccessGroup.Grade
    /// The user and the process that call; nil where it is the daemon itself.
    let process: CallerIdentity.ProcessIdentity?
    /// `add`, `copy`, `unlock` …
    public let operation: String
    public let itemClass: ItemClass?
    /// The group that was named, or that the items were in.
    let group: Group?
    /// How many items it was about.
    public let count: Int
    public let status: OSStatusCode
    /// What a passcode that came with the request was found to be.
    public let passcode: Passcode?

    struct Group: Sendable, Hashable {
        let name: AuditName
        let grade: AccessGroup.Grade
    }

    /// What a passcode was found to be. One that was not judged, as while a delay runs, was found to be nothing.
    public enum Passcode: String, Sendable {
        /// It was right, or is the new one.
        case accepted
        /// It was judged, and counted.
        case wrong
    }

    public init(
        caller: CallerIdentity, operation: String, itemClass: ItemClass? = nil, group: AccessGroup? = nil,
        count: Int = 0,
        status: OSStatusCode = .success, passcode: Passcode? = nil
    ) {
        program = AuditName(caller.executable)
        grade = caller.grade
        process = caller.process
        self.operation = operation
        self.itemClass = itemClass
        self.group = group.map { Group(name: AuditName($0.name), grade: $0.grade) }
        self.count = count
        self.status = status
        self.passcode = passcode
    }

    /// Whether the request was answered with an error.
    var isRefusal: Bool { status != .success }

    /// The program whose part of the log the line belongs to.
    var source: AuditSource {
        AuditSource(user: process?.user, program: program.escaped, digest: program.original?.digest)
    }
}

/// A program of a user, as the lines of the log tell it from others.
struct AuditSource: Hashable, Sendable {
    private let identifier: Int

    init(user: UInt32?, program: String, digest: String?) {
        // A number instead of names: a file may have lines of many programs.
        var hasher = Hasher()
        hasher.combine(user)
        hasher.combine(program)
        hasher.combine(digest)
        identifier = hasher.finalize()
    }
}

/// An entry on its way to the log.
struct AuditEvent: Sendable {
    let entry: AuditEntry
    /// Seconds since 2001.
    let time: Double
}
