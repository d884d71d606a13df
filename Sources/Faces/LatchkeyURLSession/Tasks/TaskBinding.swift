// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// The properties of a task that a protocol needs and that Foundation does not publish, read by reflection.
///
/// Foundation's names are looked for once, when the task starts. If one is missing, the request
/// fails: a newer Foundation can not weaken a connection.
struct TaskBinding: Sendable {
    let task: URLSessionTask
    let session: URLSession
    /// The only queue that may call the client of the protocol.
    let queue: DispatchQueue
    let body: RequestBody
    /// Whether a completion handler receives the body. The body must then be delivered at once.
    let deliversOnce: Bool
    /// The result of the lookup in the session's cache; nil if the URL was not looked up.
    let cacheEntry: ResponseCache.KnownEntry?
    /// The delegate of this task alone; nil if the session's delegate is the task's.
    let ownDelegate: (any URLSessionTaskDelegate)?

    /// Must be called on the task's queue. Nil if Foundation has other names.
    ///
    /// - Parameter cached: the response that Foundation has found in the session's cache for the task.
    init?(_ task: URLSessionTask, cached: CachedURLResponse?) {
        let fields = TaskFields(of: task)
        guard let session = fields.session, let queue = fields.workQueue, let known = fields.knownBody,
            let body = Self.body(known, task)
        else { return nil }
        (self.task, self.session, self.queue, self.body) = (task, session, queue, body)
        // Foundation has looked for the whole URL, but the URLs of entries have no fragment.
        cacheEntry = task.currentRequest?.url.flatMap { url in
            task is URLSessionUploadTask || url.fragment != nil ? nil : .init(url: url, entry: cached)
        }
        let receiver = Self.receiver(of: task, in: session)
        deliversOnce = receiver?.name != "callDelegate"
        // `data(for:delegate:)` does not set the delegate of the task.
        let delegate = receiver?.delegate ?? task.delegate
        ownDelegate = delegate === session.delegate ? nil : delegate
    }

    /// The delegate that a task of the session asks: its own, or the session's.
    var delegate: (any URLSessionDelegate)? { ownDelegate ?? session.delegate }

    static func unreadable(_ url: URL?) -> LoadError {
        LoadError(.unknown, "this version of Foundation is not supported: the session of the task cannot be read", url)
    }

    /// - Parameter known: an optional enumeration: no body, data, the URL of a file, or a stream.
    private static func body(_ known: Any, _ task: URLSessionTask) -> RequestBody? {
        guard let wrapped = Mirror(reflecting: known).children.first?.value else {
            // Without a known body, an upload task asks its delegate for a stream.
            return task is URLSessionUploadTask ? .requestedStream : RequestBody.none
        }
        guard let content = Mirror(reflecting: wrapped).children.first else { return RequestBody.none }
        switch (content.label, content.value) {
        case ("data", let data as DispatchData): return .data(Data(data))
        case ("file", let url as URL): return .file(url)
        case ("stream", let stream as InputStream): return .stream(StreamHandle(stream))
        default: return nil
        }
    }

    /// Returns the case of Foundation's enumeration of the receivers of a task's result, and the delegate in it.
    private static func receiver(of task: URLSessionTask, in session: URLSession)
        -> (name: String, delegate: (any URLSessionTaskDelegate)?)?
    {
        let registry = Mirror(reflecting: session).children.first { $0.label == "taskRegistry" }
        let all = registry.flatMap { Mirror(reflecting: $0.value).children.first { $0.label == "behaviours" } }
        for entry in all.map({ Mirror(reflecting: $0.value).children }) ?? .init([]) {
            let pair = Mirror(reflecting: entry.value).children.map(\.value)
            guard pair.count == 2, pair[0] as? Int == task.taskIdentifier else { continue }
            // A case without values has no children.
            guard let content = Mirror(reflecting: pair[1]).children.first else {
                return (String(describing: pair[1]), nil)
            }
            let values = [content.value] + Mirror(reflecting: content.value).children.map(\.value)
            return (
                content.label ?? "", values.lazy.compactMap { $0 as? any URLSessionTaskDelegate }.first
            )
        }
        return nil
    }
}
