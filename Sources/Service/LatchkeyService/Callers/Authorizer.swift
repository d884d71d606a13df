// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore

/// A caller with decided access groups. Only ``Authorizer`` creates one, and every search is restricted to its groups
/// here.
struct AuthorizedCaller {
    private let readable: ItemSearch.Groups
    private let writable: ItemSearch.Groups
    /// The group of a new item that names none; nil if there is no group that the caller can write.
    private let home: AccessGroup?
    let executable: String
    /// Whether the caller declares no identity: its first group is its own, and the shared one follows. Of the shared
    /// group, a bulk change affects only the items that the same executable added.
    private let isAnonymous: Bool
    /// Whether the caller also has the common groups, if it names them.
    private let hasCommonGroups: Bool
    /// Why the caller has its groups.
    private let reason: String
    /// The groups that root has reserved for other programs.
    private let withheld: [String: String]

    fileprivate init(
        readable: ItemSearch.Groups, writable: ItemSearch.Groups, home: AccessGroup?, executable: String,
        isAnonymous: Bool, hasCommonGroups: Bool = false, withheld: [String: String] = [:], reason: String
    ) {
        self.readable = readable
        self.writable = writable
        self.home = home
        self.executable = executable
        self.isAnonymous = isAnonymous
        self.hasCommonGroups = hasCommonGroups
        self.reason = reason
        self.withheld = withheld
    }

    fileprivate func report(_ facts: [CallerReport.Fact]) -> CallerReport {
        switch readable {
        case .all: CallerReport(facts: facts, groups: home.map { [$0] } ?? [], hasAllGroups: true, reason: reason)
        case .only(let groups): CallerReport(facts: facts, groups: groups, reason: reason)
        }
    }

    /// The access of a request to the items that it names.
    enum Access { case read, write }

    /// Returns the group of a new item.
    ///
    /// - Throws: errSecMissingEntitlement if the caller may not write the named group.
    func groupForAddition(named name: String?) throws(KeychainError) -> AccessGroup {
        guard let name else {
            guard let home else { throw Self.noGroup }
            return home
        }
        return try permitted(name, in: writable)
    }

    /// Returns the group of a new protected file. Without an identity it is the shared one: a file has a path, and is
    /// still opened by a program with a new name.
    func groupForFile(named name: String?) throws(KeychainError) -> AccessGroup {
        try groupForAddition(named: isAnonymous ? name ?? AccessGroup.shared.name : name)
    }

    /// Throws errSecMissingEntitlement if the caller may not use a protected file of this group.
    func requireAccess(to group: AccessGroup) throws(KeychainError) {
        let isPermitted =
            switch readable {
            case .all(let grade): group.grade == grade && group != .token
            case .only(let groups): groups.contains(group) || hasCommonGroups && group.isCommon
            }
        guard isPermitted else {
            throw KeychainError(
                .missingEntitlement, "the file belongs to the access group '\(group.name)', but this program lacks it",
                hint: "list it under keychain-access-groups in the program's .entitlements file")
        }
    }

    /// Returns the group that an update moves items to.
    func groupForMove(named name: String) throws(KeychainError) -> AccessGroup {
        try permitted(name, in: writable)
    }

    /// Returns the query as a search of the store, restricted to the groups that the caller may
    /// read or write.
    func search(_ query: ItemQuery, for access: Access) throws(KeychainError) -> ItemSearch {
        let allowed = access == .read ? readable : writable
        var groups = allowed
        let names = query.namedGroups
        if !names.isEmpty {
            var named: [AccessGroup] = []
            for name in names {
                // Every program that has a group may read the token group. It is empty until tokens publish items
                // there.
                if access == .read, name == AccessGroup.token.name {
                    named.append(.token)
                } else {
                    named.append(try permitted(name, in: allowed))
                }
            }
            groups = .only(named)
        }
        guard let itemClass = query.persistentReference?.itemClass ?? query.itemClass else {
            throw .parameter("the query names neither a class nor a persistent reference")
        }
        var search = ItemSearch(
            itemClass, groups: groups, attributes: query.attributes, synchronizable: query.synchronizable,
            identifier: query.persistentReference?.identifier, includesTombstones: query.includesTombstones,
            match: query.match)
        if let lookup = query.lookupAttributes {
            guard itemClass.isPassword else { throw .parameter("only passwords have lookup attributes") }
            search.lookup = .subset(lookup)
        }
        let namesItems = access == .write && Self.isByReference(query, itemClass)
        if isAnonymous, names.isEmpty {
            // A search, a change and an addition mean the same item: the own one, before one of the shared group.
            search.groupOrder = namesItems ? .firstGroupElseOthers : .firstGroupFirst
        }
        guard access == .write else { return search }
        if case .only(let list) = writable, list.isEmpty { throw Self.noGroup }
        // Tombstones are internal to the store; no caller may change or delete them.
        search.includesTombstones = false
        if isAnonymous, !namesItems, !Self.isOfCommonGroups(groups) {
            (search.addedBy, search.ownGroup) = (executable, home)
        }
        return search
    }

    /// Returns whether the query names its items by a primary-key attribute or a reference, instead
    /// of matching all items.
    private static func isByReference(_ query: ItemQuery, _ itemClass: ItemClass) -> Bool {
        if query.persistentReference != nil || query.match.items != nil { return true }
        let key = ItemSchema.of(itemClass).primaryKey.filter { !$0.isSystemSet }.map(\.attribute)
        return key.contains { query.attributes[$0] != nil }
    }

    /// Whether the caller has named common groups, and no others: then it means the items of every program.
    private static func isOfCommonGroups(_ groups: ItemSearch.Groups) -> Bool {
        guard case .only(let list) = groups else { return false }
        return list.allSatisfy(\.isCommon)
    }

    private func permitted(_ name: String, in groups: ItemSearch.Groups) throws(KeychainError) -> AccessGroup {
        switch groups {
        case .all(let grade):
            guard name != AccessGroup.token.name, name != "*", !name.isEmpty else {
                throw KeychainError(.missingEntitlement, "the access group '\(name)' is reserved")
            }
            return AccessGroup(name, grade: grade)
        case .only(let list):
            if let group = list.first(where: { $0.name.hasSameBytes(as: name) }) { return group }
            if let file = withheld[name] { throw Self.reserved(name, file) }
            let group = AccessGroup(name, grade: .claimed)
            guard hasCommonGroups, group.isCommon else {
                throw KeychainError(
                    .missingEntitlement, "this program is not entitled to the access group '\(name)'",
                    hint: "list it under keychain-access-groups in the program's .entitlements file")
            }
            return group
        }
    }

    fileprivate static func reserved(_ group: String, _ file: String) -> KeychainError {
        KeychainError(
            .missingEntitlement, "the access group '\(group)' is reserved for another program",
            hint: "\(file) has the reservation; only root can change it")
    }

    fileprivate static let noGroup = KeychainError(
        .missingEntitlement, "this program declares an identity, but no access group that it may use",
        hint: "list a group under keychain-access-groups in the program's .entitlements file")
}

/// Decides the access groups of a caller. No other code does.
///
/// The statements of a program about itself are a claim: nothing on this system proves which of a user's programs is
/// calling. Attested groups are those that the administrator's files grant to a user, a unit or a security label that
/// the kernel reports.
enum Authorizer {
    static func authorize(_ caller: CallerIdentity) throws(KeychainError) -> AuthorizedCaller {
        switch caller.sandbox {
        case .application(let name)?:
            return entitled(
                to: [AccessGroup(name, grade: .claimed)], caller,
                "it runs in a sandbox with only this group")
        case .unidentified?:
            throw KeychainError(
                .missingEntitlement,
                "this program runs in a sandbox that does not identify its application, so it has no access group",
                hint:
                    "start it with flatpak run or snap run in a systemd session, so that its scope names the application"
            )
        case nil: break
        }
        if let attested = caller.attestedGroups { return try attestedCaller(caller, attested) }
        if caller.isUserCommand {
            // The command acts for the user, who has all claimed groups.
            return AuthorizedCaller(
                readable: .all(.claimed), writable: .all(.claimed), home: .shared, executable: caller.executable,
                isAnonymous: false,
                reason: "it is the user's own command")
        }
        guard let declared = caller.declaredGroups else {
            guard let own = caller.ownGroup else { throw Self.noName }
            if let file = caller.withheldGroups[own.name] { throw AuthorizedCaller.reserved(own.name, file) }
            let groups = ItemSearch.Groups.only([own, .shared])
            return AuthorizedCaller(
                readable: groups, writable: groups, home: own,
                executable: caller.executable, isAnonymous: true, hasCommonGroups: true,
                reason: anonymousReason)
        }
        return entitled(to: try claimed(declared, caller), caller, hasCommonGroups: true, "it declares them")
    }

    private static let anonymousReason =
        "it declares no identity: the first group has the name of its executable, and every such program has the other"

    private static let noName = KeychainError(
        .missingEntitlement, "the file name of this program cannot be that of an access group",
        hint:
            "use at most \(AccessGroup.maxProgramLength) bytes of printable text, or put EXECUTABLE.entitlements beside the program"
    )

    /// Returns a caller with the groups that the administrator grants, followed by those that it
    /// declares. The two kinds never mix: a claimed group and an attested group of the same name
    /// are different groups.
    private static func attestedCaller(_ caller: CallerIdentity, _ attested: [String]) throws(KeychainError)
        -> AuthorizedCaller
    {
        let named = attested.filter { $0 != "*" && $0 != AccessGroup.token.name }.map {
            AccessGroup($0, grade: .attested)
        }
        if attested.contains("*") {
            return AuthorizedCaller(
                readable: .all(.attested), writable: .all(.attested), home: named.first, executable: caller.executable,
                isAnonymous: false,
                reason: "the administrator grants it every attested group")
        }
        let own = caller.declaredGroups.map { $0.filter { $0 != "*" } } ?? []
        let groups = named + (own.isEmpty ? [] : try claimed(own, caller))
        guard !groups.isEmpty else { throw AuthorizedCaller.noGroup }
        return entitled(to: groups, caller, "the administrator grants it the attested ones")
    }

    private static func claimed(
        _ declared: [String], _ caller: CallerIdentity
    ) throws(KeychainError) -> [AccessGroup] {
        guard !declared.contains("*") else {
            throw KeychainError(
                .missingEntitlement, "the access group '*' cannot be claimed",
                hint: "name the groups under keychain-access-groups in the program's .entitlements file")
        }
        guard !declared.isEmpty else { throw AuthorizedCaller.noGroup }
        // The token group is read-only and comes last (keychain-behaviour §3.8.2).
        let named = declared.filter { $0 != AccessGroup.token.name && !$0.isEmpty }
        let groups = named.filter { caller.withheldGroups[$0] == nil }
        if groups.isEmpty, let first = named.first, let file = caller.withheldGroups[first] {
            throw AuthorizedCaller.reserved(first, file)
        }
        return groups.map { AccessGroup($0, grade: .claimed) }
    }

    private static func entitled(
        to groups: [AccessGroup], _ caller: CallerIdentity, hasCommonGroups: Bool = false, _ reason: String
    ) -> AuthorizedCaller {
        AuthorizedCaller(
            readable: .only(groups), writable: .only(groups), home: groups.first, executable: caller.executable,
            isAnonymous: false, hasCommonGroups: hasCommonGroups, withheld: caller.withheldGroups, reason: reason)
    }

    /// Returns a readable report of the caller's rights.
    static func report(_ caller: CallerIdentity, facts: [CallerReport.Fact]) -> CallerReport {
        do throws(KeychainError) {
            return try authorize(caller).report(facts)
        } catch {
            return CallerReport(facts: facts, groups: [], reason: error.problem)
        }
    }
}
