// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LinuxSystem

/// The properties of Foundation's tasks that are read by reflection.
///
/// To read one of them by its place takes little, to search all of them takes as long as a
/// handshake's evaluation of certificates. The places are searched once for each class of tasks;
/// the name is compared whenever a place is used.
enum TaskFields {
    /// Where a property is: in which superclass, and its index there.
    private struct Place: Sendable {
        let level: Int
        let offset: Int
    }

    private static let names: Set<String> = ["session", "workQueue", "knownBody"]
    private static let known = SystemMutex<[ObjectIdentifier: [String: Place]]>([:])

    /// The values by the names of the properties; a name is missing if Foundation has another one.
    static func values(of task: URLSessionTask) -> [String: Any] {
        let type = ObjectIdentifier(type(of: task))
        if let places = known.withLock({ $0[type] }), let values = values(of: task, at: places) { return values }
        let places = search(task)
        known.withLock { $0[type] = places }
        return values(of: task, at: places) ?? [:]
    }

    /// Nil if a place has a property with another name.
    private static func values(of task: URLSessionTask, at places: [String: Place]) -> [String: Any]? {
        let levels = levels(of: task)
        var values: [String: Any] = [:]
        for (name, place) in places {
            guard place.level < levels.count, place.offset < levels[place.level].count else { return nil }
            let children = levels[place.level]
            let child = children[children.index(children.startIndex, offsetBy: place.offset)]
            guard child.label == name else { return nil }
            values[name] = child.value
        }
        return values
    }

    private static func search(_ task: URLSessionTask) -> [String: Place] {
        var places: [String: Place] = [:]
        for (level, children) in levels(of: task).enumerated() {
            for (offset, child) in children.enumerated() {
                guard let name = child.label, names.contains(name) else { continue }
                places[name] = Place(level: level, offset: offset)
            }
        }
        return places
    }

    /// The properties of the class, of its superclass, and so on.
    private static func levels(of task: URLSessionTask) -> [Mirror.Children] {
        sequence(first: Mirror(reflecting: task), next: \.superclassMirror).map(\.children)
    }
}
