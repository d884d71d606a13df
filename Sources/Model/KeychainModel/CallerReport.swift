// SPDX-License-Identifier: Apache-2.0

/// The facts that the keychain knows about a caller, and the resulting access.
public struct CallerReport: Sendable, Equatable {
    /// One fact about the caller.
    public struct Fact: Sendable, Equatable {
        /// `user`, `process`, `executable`, `unit`, `label`, `flatpak`, `snap`, `identity`.
        public var name: String
        public var value: String
        public var grade: AccessGroup.Grade
        /// The source of the fact.
        public var source: String

        public init(_ name: String, _ value: String, _ grade: AccessGroup.Grade, source: String) {
            self.name = name
            self.value = value
            self.grade = grade
            self.source = source
        }
    }

    public var facts: [Fact]
    /// The caller's groups, in order. A new item is added to the first.
    public var groups: [AccessGroup]
    /// Whether the caller has every group of its grade.
    public var hasAllGroups: Bool
    /// Why the caller has these groups.
    public var reason: String

    public init(facts: [Fact] = [], groups: [AccessGroup], hasAllGroups: Bool = false, reason: String) {
        self.facts = facts
        self.groups = groups
        self.hasAllGroups = hasAllGroups
        self.reason = reason
    }
}

extension AccessGroup.Grade: CustomStringConvertible {
    /// `claimed` or `attested`.
    public var description: String {
        switch self {
        case .claimed: "claimed"
        case .attested: "attested"
        case .service: "service"
        }
    }
}
