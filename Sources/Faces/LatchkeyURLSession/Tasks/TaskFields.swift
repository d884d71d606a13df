// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import LinuxSystem

/// The properties of Foundation's tasks that are read by reflection.
///
/// To read one of them by its place takes little, to search all of them takes as long as a
/// handshake's evaluation of certificates. The places are searched once for each class of tasks;
/// the name is compared whenever a place is used.
struct TaskFields {
    private(set) var session: URLSession?
    private(set) var workQueue: DispatchQueue?
    private(set) var knownBody: Any?

    /// The names in Foundation.
    private enum Name: String { case session, workQueue, knownBody }

    /// The location of a property: its superclass, and its index there.
    private struct Place: Sendable {
        let level: Int
        let offset: Int
    }

    private static let known = SystemMutex<[ObjectIdentifier: [Name: Place]]>([:])

    /// A value is nil if Foundation has another name for it.
    init(of task: URLSessionTask) {
        let type = ObjectIdentifier(type(of: task))
        if let places = Self.known.withLock({ $0[type] }), read(task, at: places) { return }
        (session, workQueue, knownBody) = (nil, nil, nil)
        let places = Self.search(task)
        Self.known.withLock { $0[type] = places }
        _ = read(task, at: places)
    }

    /// Returns false if a place has a property with another name.
    private mutating func read(_ task: URLSessionTask, at places: [Name: Place]) -> Bool {
        let levels = Self.levels(of: task)
        for (name, place) in places {
            guard place.level < levels.count, place.offset < levels[place.level].count else { return false }
            let children = levels[place.level]
            let child = children[children.index(children.startIndex, offsetBy: place.offset)]
            guard child.label == name.rawValue else { return false }
            switch name {
            case .session: session = child.value as? URLSession
            case .workQueue: workQueue = child.value as? DispatchQueue
            case .knownBody: knownBody = child.value
            }
        }
        return true
    }

    private static func search(_ task: URLSessionTask) -> [Name: Place] {
        var places: [Name: Place] = [:]
        for (level, children) in levels(of: task).enumerated() {
            for (offset, child) in children.enumerated() {
                guard let name = child.label.flatMap(Name.init) else { continue }
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
