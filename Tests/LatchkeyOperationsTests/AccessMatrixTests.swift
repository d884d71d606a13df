// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import Testing

/// Every operation, for every kind of caller, in every state of a decision. `make docs` writes them as a page.
@Suite("Access matrix")
struct AccessMatrixTests {
    @Test("Each operation, caller and state has the decision that the rules require", arguments: State.allCases)
    func rules(_ state: State) throws {
        for row in Row.all {
            for caller in Caller.allCases {
                #expect(
                    try Self.decided(row, caller, state) == Self.expected(row, caller, state),
                    "\(row.title), \(caller.rawValue), \(state.rawValue)")
            }
        }
    }

    @Test("A denied operation has errSecMissingEntitlement, one that needs the passcode errSecInteractionNotAllowed")
    func reasons() throws {
        for state in State.allCases {
            for row in Row.all {
                for caller in Caller.allCases {
                    switch state.decision(on: row.traits, by: caller.identity) {
                    case .allow: break
                    case .deny(let reason): #expect(reason.status == .missingEntitlement && reason.hint != nil)
                    case .needsPasscode: Issue.record("\(row.title) can need the passcode only for secrets")
                    }
                    switch try state.policy.decision(
                        onSecretsIn: nil, by: caller.identity, hasPasscode: { state.hasPasscode })
                    {
                    case .allow: break
                    case .deny: Issue.record("secrets of a group that the caller has are not denied")
                    case .needsPasscode(let reason):
                        #expect(reason.status == .interactionNotAllowed && reason.hint != nil)
                    }
                }
            }
        }
    }

    @Test("The page has each operation, with its names in the audit log")
    func page() throws {
        let text = try Self.page()
        for operation in Samples.requests {
            guard let name = operation.audit?.name.replacing("-rehearsal", with: "") else { continue }
            #expect(text.contains("| `\(type(of: operation))` |") && text.contains("`\(name)`"), "\(operation)")
        }
        try GeneratedPage.write(text, as: "AccessMatrix.md")
    }

    private static func page() throws -> String {
        var lines = [
            "# Access matrix", "",
            "The operations of latchkeyd that each kind of caller may perform, as `AccessPolicy` decides. `make docs`",
            "makes this page (`AccessMatrixTests`).", "",
            "yes is allowed, denied errSecMissingEntitlement (−34018), passcode errSecInteractionNotAllowed",
            "(−25308) unless the caller gives the passcode. An operation on items has two rows: for items of",
            "a group that the caller has, and for items of another program's group. A search that names no",
            "group is not denied; it does not find the items of groups that the caller does not have.",
            "`CopyItems`, `CopyIdentities` and `UpdateItems` need the passcode for data, and to move items into",
            "another group; not for attributes. A session opens no other session, and cannot be recovered.", "",
            "If the keychain is locked, an operation on items fails for the classes that are closed:",
            "ProtectionMatrix.md. A program without a daemon opens the files itself:",
            "there only its access groups and the classes decide.", "",
            "A program, an unknown one and a command also have the common groups, if they name them: those of",
            "the collections of the Secret Service and of applications in sandboxes. A command needs no passcode",
            "for the shared group and for those of collections.", "",
        ]
        for caller in Caller.allCases { lines.append("- \(caller.rawValue): \(caller.meaning)") }
        for state in State.allCases {
            lines += [
                "", "## \(state.title)", "",
                "| operation | \(Caller.allCases.map(\.rawValue).joined(separator: " | ")) |",
                "|---|" + String(repeating: "---|", count: Caller.allCases.count),
            ]
            for row in Row.all {
                let words = try Caller.allCases.map { try decided(row, $0, state).rawValue }
                lines.append("| \(row.title) | \(words.joined(separator: " | ")) |")
            }
        }
        lines += [
            "", "## What an operation does", "",
            "A change is carried out once, also if its request is repeated. Without the log: while the audit log",
            "cannot be written. Without the keychain: also if it cannot be opened. Of the keychains of a search list,",
            "the default one performs an operation, that of every user, those that are searched, or all.",
            "`WatchChanges` reports the changes of all that are searched.", "",
            "| operation | in the log | changes something | without the log | without the keychain | keychain |",
            "|---|---|---|---|---|---|",
        ]
        for row in Row.all where row.group != .others { lines.append(row.description) }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test("Only an attested caller restores items of attested groups; a sandboxed one gets no list of programs")
    func details() {
        for caller in Caller.allCases {
            #expect(AccessPolicy.restoresAttestedGroups(caller.identity) == (caller == .attested))
            #expect(AccessPolicy.reportsOtherPrograms(to: caller.identity) == (caller != .sandboxed))
            for state in State.allCases {
                #expect(state.policy.mayNeedPasscode(caller.identity) == (caller == .command && !state.isSession))
            }
        }
    }

    // MARK: The rules

    /// The rules, independently of the policy.
    private static func expected(_ row: Row, _ caller: Caller, _ state: State) -> Word {
        switch row.rule {
        case .anyone: return .yes
        case .administration: return caller == .sandboxed ? .denied : .yes
        case .allGroups:
            if state.mayHoldAttestedItems, caller != .attested { return .denied }
            return caller == .sandboxed ? .denied : .yes
        case .lock:
            return state.mayHoldAttestedItems && caller != .attested && state != .attestedSession ? .denied : .yes
        case .items, .secrets:
            guard row.group == .others else { return .yes }
            // Only the user's own command has the groups of other programs, and only claimed ones.
            guard caller == .command, !state.mayHoldAttestedItems else { return .denied }
            return state == .passcode && row.rule == .secrets ? .passcode : .yes
        }
    }

    // MARK: The policy

    enum Word: String {
        case yes, denied, passcode

        init(_ decision: AccessDecision) {
            switch decision {
            case .allow: self = .yes
            case .deny: self = .denied
            case .needsPasscode: self = .passcode
            }
        }
    }

    private static func decided(_ row: Row, _ caller: Caller, _ state: State) throws -> Word {
        let decision = state.decision(on: row.traits, by: caller.identity)
        guard case .allow = decision, let owner = row.group else { return Word(decision) }
        let report = AccessPolicy.report(on: caller.identity, facts: [])
        let group = owner == .own ? try #require(report.groups.first) : state.groupOfOthers
        let isReached = report.hasAllGroups ? group.grade == caller.identity.grade : report.groups.contains(group)
        guard isReached else { return .denied }
        guard row.traits.contains(.readsSecrets) else { return .yes }
        return Word(
            try state.policy.decision(
                onSecretsIn: [group], by: caller.identity, hasPasscode: { state.hasPasscode }))
    }

    /// An operation, and the items that it is about.
    struct Row {
        enum Group { case own, others }

        let name: String
        let traits: OperationTraits
        let reach: OperationReach
        let rule: AccessRule
        /// nil for an operation that is not on items.
        let group: Group?

        var title: String {
            switch group {
            case nil: "`\(name)`"
            case .own?: "`\(name)`, a group of the caller"
            case .others?: "`\(name)`, another program's group"
            }
        }

        /// The names of the operation in the audit log, without the suffix of a dry run.
        private var auditNames: [String] {
            let own = Samples.requests.filter { "\(Swift.type(of: $0))" == name }
            return Set(own.compactMap { $0.audit?.name.replacing("-rehearsal", with: "") }).sorted()
        }

        /// What the operation does, as a row of the page.
        var description: String {
            let kept: [OperationTraits] = [.changes, .worksWithoutLog, .worksWithoutKeychain]
            let names = auditNames.map { "`\($0)`" }.joined(separator: ", ")
            let words = [names] + kept.map { traits.contains($0) ? "yes" : "" } + [reach.word]
            return "| `\(name)` | \(words.joined(separator: " | ")) |"
        }

        /// In the order of the samples; without a connection's first message and a restoration's
        /// or a file's parts, which are not requests of their own.
        static let all: [Row] = {
            var rows: [Row] = []
            for operation in Samples.requests
            where !(operation is Hello || operation is SendPiece || operation is SendFileContent) {
                let type = type(of: operation)
                guard !rows.contains(where: { $0.name == "\(type)" }) else { continue }
                let groups: [Group?] = type.traits.contains(.accessesItems) ? [.own, .others] : [nil]
                let rule = Samples.rule(of: operation)
                rows += groups.map {
                    Row(name: "\(type)", traits: type.traits, reach: operation.reach, rule: rule, group: $0)
                }
            }
            return rows
        }()
    }

    enum Caller: String, CaseIterable {
        case program, unknown, command, sandboxed, attested

        var identity: CallerIdentity {
            switch self {
            case .program: CallerIdentity(executable: "/usr/bin/app", declaredGroups: ["app"])
            case .unknown: CallerIdentity(executable: "/usr/bin/tool")
            case .command: CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
            case .sandboxed:
                CallerIdentity(
                    executable: "/app/bin/app", declaredGroups: ["app"], sandbox: .application(group: "flatpak.app"))
            case .attested: CallerIdentity(executable: "/usr/bin/service", attestedGroups: ["service"])
            }
        }

        var meaning: String {
            switch self {
            case .program: "it declares its access groups."
            case .unknown: "it declares none, and has the group that such programs share."
            case .command: "the user's own command, which has every claimed group of the user."
            case .sandboxed: "it has the group of its application only, whatever it declares."
            case .attested: "the administrator's files give it its access groups."
            }
        }
    }

    enum State: String, CaseIterable {
        case noPasscode, passcode, attested, session, attestedSession

        var title: String {
            switch self {
            case .noPasscode: "No passcode is set"
            case .passcode: "A passcode is set"
            case .attested: "A passcode is set, and the keychain may hold items of attested groups"
            case .session: "In a session that was opened with the passcode"
            case .attestedSession: "In such a session, and the keychain may hold items of attested groups"
            }
        }

        var isSession: Bool { self == .session || self == .attestedSession }

        var hasPasscode: Bool { self != .noPasscode }

        var mayHoldAttestedItems: Bool { self == .attested || self == .attestedSession }

        var policy: AccessPolicy { AccessPolicy(mode: isSession ? .session : .system, knowsPasscode: isSession) }

        var groupOfOthers: AccessGroup { AccessGroup("other", grade: mayHoldAttestedItems ? .attested : .claimed) }

        func decision(on traits: OperationTraits, by caller: CallerIdentity) -> AccessDecision {
            policy.decision(on: traits, by: caller, mayHoldAttestedItems: mayHoldAttestedItems)
        }
    }
}

extension OperationReach {
    fileprivate var word: String {
        switch self {
        case .defaultKeychain: "default"
        case .loginKeychain: "every user's"
        case .searchList: "searched"
        case .searchListThenDefault: "searched, default"
        case .everyKeychain: "all"
        }
    }
}
