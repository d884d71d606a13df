// SPDX-License-Identifier: Apache-2.0

/// The named set of items that the programs entitled to it share. The grade is part of the group's
/// identity: the group `G` that a program claims and the group `G` that the system attests are
/// different groups.
public struct AccessGroup: Hashable, Sendable {
    /// How a caller's right to a group was established.
    public enum Grade: UInt8, Sendable {
        /// By the program's own statement. Nothing on this system proves the identity of a user's calling program.
        case claimed = 1
        /// By the kernel and files that root owns.
        case attested = 2
        /// By no program: for the keychain's own data among its items.
        case service = 3
    }

    /// The name, such as `com.example.shared`.
    public let name: String
    /// How the right to the group was established.
    public let grade: Grade

    /// Compares the bytes of the names (keychain-behaviour §3.8.8).
    public static func == (one: AccessGroup, other: AccessGroup) -> Bool {
        one.grade == other.grade && one.name.hasSameBytes(as: other.name)
    }

    /// Hashes the name and the grade.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(grade)
        hasher.combine(Array(name.utf8))
    }

    /// Names a group.
    public init(_ name: String, grade: Grade) {
        self.name = name
        self.grade = grade
    }

    /// The group of programs that declare no identity, and of the command line.
    public static let shared = AccessGroup("latchkey.shared", grade: .claimed)

    /// Apple's group of token items: every caller with a group can read it, no caller can write it
    /// (keychain-behaviour §3.8.2).
    public static let token = AccessGroup("com.apple.token", grade: .claimed)

    /// The policies of access groups, which `latchkey policy` stores.
    public static let policies = AccessGroup("latchkey.policies", grade: .claimed)

    /// The class keys of protected files. No program can search, change or delete them.
    public static let files = AccessGroup("latchkey.files", grade: .service)
}
