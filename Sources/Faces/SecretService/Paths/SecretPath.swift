// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SystemBus

/// The object that a path of the Secret Service names. Whether it exists is another question.
enum SecretPath: Hashable, Sendable {
    /// `/org/freedesktop/secrets`.
    case service
    /// `/org/freedesktop/secrets/collection` and similar paths that only have other objects below them.
    case folder(Folder)
    case collection(CollectionSelector)
    case item(CollectionSelector, SecretItemID)
    case session(SessionNumber)
    case prompt(PromptNumber)

    enum Folder: String, CaseIterable, Sendable {
        case collection, aliases, session, prompt
    }

    static let root: ObjectPath = "/org/freedesktop/secrets"

    /// nil for a path that names no object of the service.
    init?(_ path: ObjectPath) {
        guard path.isAtOrBelow(Self.root) else { return nil }
        // Bytes are split faster than characters: a call may have tens of thousands of paths.
        let elements = path.text.utf8.dropFirst(Self.root.text.utf8.count)
            .split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard let first = elements.first else {
            self = .service
            return
        }
        guard let folder = Folder(rawValue: first), elements.count <= 3 else { return nil }
        guard let name = elements.dropFirst().first else {
            self = .folder(folder)
            return
        }
        guard let found = Self.object(in: folder, name, elements.dropFirst(2).first) else { return nil }
        self = found
    }

    private static func object(in folder: Folder, _ name: String, _ below: String?) -> SecretPath? {
        switch folder {
        case .collection, .aliases:
            guard let selector = CollectionSelector(in: folder, name) else { return nil }
            guard let below else { return .collection(selector) }
            return Hexadecimal.bytes(below.utf8).flatMap { SecretItemID($0) }.map { .item(selector, $0) }
        case .session:
            guard below == nil else { return nil }
            return SessionNumber(element: name).map(SecretPath.session)
        case .prompt:
            guard below == nil else { return nil }
            return PromptNumber(element: name).map(SecretPath.prompt)
        }
    }
}

/// How a path names a collection.
enum CollectionSelector: Hashable, Sendable {
    case name(CollectionName)
    case alias(CollectionAlias)

    /// Below `aliases` a name that is no alias is that of a collection, because `secret-tool
    /// --collection=NAME` asks there.
    fileprivate init?(in folder: SecretPath.Folder, _ element: String) {
        if folder == .aliases, let alias = CollectionAlias(rawValue: element) {
            self = .alias(alias)
        } else {
            guard let name = PathElement.decode(element).flatMap({ CollectionName($0) }) else { return nil }
            self = .name(name)
        }
    }
}

/// The aliases of collections.
enum CollectionAlias: String, Hashable, Sendable, CaseIterable {
    /// The collection that gets items of clients that name none.
    case `default`
    /// The collection that every user has.
    case login
    /// The collection in memory.
    case session
}

/// The unique number of a session.
struct SessionNumber: Hashable, Sendable {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }

    init?(element: String) {
        guard let number = PathNumber.parse(element, after: "s") else { return nil }
        self.number = number
    }

    var path: ObjectPath { .unchecked("\(SecretPath.root.text)/session/s\(number)") }
}

/// The unique number of a prompt.
struct PromptNumber: Hashable, Sendable {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }

    init?(element: String) {
        guard let number = PathNumber.parse(element, after: "p") else { return nil }
        self.number = number
    }

    var path: ObjectPath { .unchecked("\(SecretPath.root.text)/prompt/p\(number)") }
}

private enum PathNumber {
    /// Returns a number after a letter; nil unless it is written in its only form.
    static func parse(_ element: String, after letter: String) -> UInt64? {
        guard let number = UInt64(element.dropFirst(letter.count)), element == "\(letter)\(number)" else { return nil }
        return number
    }
}

// MARK: The paths of objects

extension CollectionName {
    var path: ObjectPath { .unchecked("\(SecretPath.root.text)/collection/\(PathElement.encode(text))") }
}

extension ItemReference {
    var path: ObjectPath { path(below: collection.path) }

    fileprivate func path(below collection: ObjectPath) -> ObjectPath {
        .unchecked("\(collection.text)/\(Hexadecimal.text(item.bytes))")
    }
}

extension [ItemReference] {
    /// The paths of items, usually of few collections.
    var paths: [ObjectPath] {
        var last: (name: CollectionName, path: ObjectPath)?
        return map { item in
            if let last, last.name == item.collection { return item.path(below: last.path) }
            let path = item.collection.path
            last = (item.collection, path)
            return item.path(below: path)
        }
    }
}

extension ObjectPath {
    /// The path that stands for no object.
    static let absent: ObjectPath = "/"

    /// A path of known parts: digits, letters and `_`.
    fileprivate static func unchecked(_ text: String) -> ObjectPath {
        guard let path = try? ObjectPath(validating: text) else {
            preconditionFailure("a path of our own is not valid, because an element was not escaped: \(text)")
        }
        return path
    }
}
