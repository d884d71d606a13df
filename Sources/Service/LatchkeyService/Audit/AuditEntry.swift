// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// One decision of the keychain: the caller, the request and the result. It contains no secret, and
/// no attribute of an item except its group.
///
/// Names from outside have a bounded length.
public struct AuditEntry: Sendable {
    /// The calling program.
    let program: AuditName
    /// How the caller's groups were established.
    let grade: AccessGroup.Grade
    /// The user and the process of the caller; nil for the daemon itself.
    let process: CallerIdentity.ProcessIdentity?
    /// `add`, `copy`, `unlock` …
    public let operation: String
    public let itemClass: ItemClass?
    /// The group that the request named, or that the items were in.
    let group: Group?
    /// The keychain that was created or deleted.
    let keychain: AuditName?
    /// The number of items.
    public let count: Int
    public let status: OSStatusCode
    /// The result of checking the passcode of the request; nil if none was checked.
    public let passcode: Passcode?

    struct Group: Sendable, Hashable {
        let name: AuditName
        let grade: AccessGroup.Grade
    }

    /// The result of checking a passcode. A passcode that was not checked, for example during a
    /// delay, has no result.
    public enum Passcode: String, Sendable {
        /// The passcode was correct, or is the new one.
        case accepted
        /// The passcode was checked, and counted as wrong.
        case wrong
    }

    public init(
        caller: CallerIdentity, operation: String, itemClass: ItemClass? = nil, group: AccessGroup? = nil,
        keychain: KeychainName? = nil, count: Int = 0,
        status: OSStatusCode = .success, passcode: Passcode? = nil
    ) {
        program = AuditName(caller.executable)
        grade = caller.grade
        process = caller.process
        self.operation = operation
        self.itemClass = itemClass
        self.group = group.map { Group(name: AuditName($0.name), grade: $0.grade) }
        self.keychain = keychain.map { AuditName($0.text) }
        self.count = count
        self.status = status
        self.passcode = passcode
    }

    /// Whether the response was an error.
    var isRefusal: Bool { status != .success }

    /// The program that is charged for the line in its part of the log.
    var source: AuditSource {
        AuditSource(user: process?.user, program: program.escaped, digest: program.original?.digest)
    }
}

/// Identifies a program of a user in the lines of the log.
struct AuditSource: Hashable, Sendable {
    private let identifier: Int

    init(user: UInt32?, program: String, digest: String?) {
        // Store a hash instead of the names: a file may have lines of many programs.
        var hasher = Hasher()
        hasher.combine(user)
        hasher.combine(program)
        hasher.combine(digest)
        identifier = hasher.finalize()
    }
}

/// An entry that is not in the log yet.
struct AuditEvent: Sendable {
    let entry: AuditEntry
    /// Seconds since 2001.
    let time: Double
}
