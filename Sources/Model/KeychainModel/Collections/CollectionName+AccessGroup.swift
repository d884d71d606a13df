// SPDX-License-Identifier: Apache-2.0

extension CollectionName {
    /// The access group of the collection's items: for ``login`` the shared one, used by `security`; for the collection
    /// of a program the program's own; otherwise a group of its own.
    public var accessGroup: AccessGroup {
        if self == .login { return .shared }
        return AccessGroup(isOfProgram ? text : AccessGroup.collectionPrefix + text, grade: .claimed)
    }

    /// Whether the collection shows the own group of a program, and has its name. Only the program changes it.
    public var isOfProgram: Bool { AccessGroup(text, grade: .claimed).programName != nil }

    /// Returns the collection with its items in this group; nil for a group that is no collection.
    public init?(_ group: AccessGroup) {
        if group == .shared {
            self = .login
            return
        }
        if group.programName != nil, let name = CollectionName(group.name) {
            self = name
            return
        }
        guard group.grade == .claimed, group.hasPrefix(AccessGroup.collectionPrefix),
            let name = CollectionName(
                String(decoding: group.name.utf8.dropFirst(AccessGroup.collectionPrefix.utf8.count), as: UTF8.self)),
            name != .login, name != .session, !name.isOfProgram
        else { return nil }
        self = name
    }
}

extension AccessGroup {
    /// The records of collections: their labels and dates, and the choice of the default one.
    public static let collections = AccessGroup("org.freedesktop.secrets", grade: .claimed)

    /// Whether every program of the user outside of sandboxes may use the group, if it names it: the groups of
    /// collections, and the groups of applications in sandboxes. The portal stores the secrets of these applications.
    ///
    /// Nothing would be gained by a list of programs that may: a program can claim any of these groups.
    public var isCommon: Bool {
        grade == .claimed && (self == .collections || Self.commonPrefixes.contains { hasPrefix($0) })
    }

    /// Whether the group belongs to the collections: ``shared``, ``collections``, and those of further
    /// collections; not the own group of a program.
    public var isOfCollections: Bool {
        self == .collections || programName == nil && CollectionName(self) != nil
    }

    fileprivate static let collectionPrefix = "org.freedesktop.secrets."

    private static let commonPrefixes = [collectionPrefix, "flatpak.", "snap."]

    /// Compares bytes: a character that is composed with the end of a prefix is part of the name.
    fileprivate func hasPrefix(_ prefix: String) -> Bool { name.utf8.starts(with: prefix.utf8) }
}
