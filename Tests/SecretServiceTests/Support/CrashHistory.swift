// SPDX-License-Identifier: Apache-2.0

/// One change of the items of a crash test.
struct CrashChange {
    enum Kind: CaseIterable { case store, replace, delete }

    let kind: Kind
    /// The item. It has the same attributes as long as it exists.
    let name: String
    /// Distinguishes the secrets that the item has in turn.
    let version: Int

    var secret: String { Self.secret(name, version) }
    var attributes: [String: String] { Self.attributes(name) }

    /// Returns up to 12,000 bytes. They show the item and the version everywhere.
    static func secret(_ name: String, _ version: Int) -> String {
        String(repeating: "\(name)=\(version);", count: 1 + version * 7919 % 1000)
    }

    /// Without the name of a schema, because the service adds it.
    static func attributes(_ name: String) -> [String: String] { ["proof": "crash", "name": name] }
}

/// The client's knowledge of the items: the versions of their secrets after the acknowledged changes, and the one
/// change that may have been made.
struct CrashHistory: CustomStringConvertible {
    private var certain: [String: Int] = [:]
    private var attempted: CrashChange?
    private var next = 0

    /// Returns a change that can be made now: of a new item, or of one that exists.
    mutating func begin() -> CrashChange {
        next += 1
        let existing = certain.keys.randomElement()
        let isNew = existing == nil || certain.count < 3
        let kind = isNew ? .store : CrashChange.Kind.allCases.randomElement() ?? .store
        let name = kind == .store ? "item\(next)" : existing ?? "item\(next)"
        let change = CrashChange(kind: kind, name: name, version: next)
        attempted = change
        return change
    }

    mutating func acknowledge() {
        certain = afterAttempt
        attempted = nil
    }

    /// Whether these are the items after the acknowledged changes, with or without the attempted one.
    func allows(_ found: [String: Int]) -> Bool { found == certain || found == afterAttempt }

    /// Continues with the items that were found.
    mutating func begin(with found: [String: Int]) { (certain, attempted) = (found, nil) }

    private var afterAttempt: [String: Int] {
        guard let attempted else { return certain }
        var items = certain
        items[attempted.name] = attempted.kind == .delete ? nil : attempted.version
        return items
    }

    var description: String { "\(certain), then perhaps \(attempted.map { "\($0)" } ?? "nothing")" }
}
