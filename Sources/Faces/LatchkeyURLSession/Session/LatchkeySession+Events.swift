// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import FoundationNetworking

extension LatchkeySession {
    /// Loads a request, and returns the lines of its response as they arrive. The sequence ends
    /// with the response, and throws a `URLError` if it is not complete. A line has at most 1 MiB.
    public func lines(for request: URLRequest) -> AsyncThrowingStream<String, any Error> {
        sequence { continuation throws(LoadError) in
            var splitter = LineSplitter()
            try await self.read(request) { data throws(LoadError) in
                guard let lines = splitter.append(data) else { throw Self.tooLong(request) }
                for line in lines { continuation.yield(String(decoding: line, as: UTF8.self)) }
            }
            if let rest = splitter.rest { continuation.yield(String(decoding: rest, as: UTF8.self)) }
        }
    }

    /// Receives events of a server, and connects again when the connection ends: after the time
    /// that the server has said, or three seconds, with the identifier of the last event. The
    /// sequence ends when the server answers with 204, and throws a `URLError` for another status
    /// than 200, another type than `text/event-stream`, and for connections that are refused.
    public func events(for request: URLRequest) -> AsyncThrowingStream<ServerSentEvent, any Error> {
        sequence { continuation throws(LoadError) in
            var (lastID, retry) = ("", 3.0)
            while true {
                var next = request
                next.setValue("text/event-stream", forHTTPHeaderField: "Accept")
                next.cachePolicy = .reloadIgnoringLocalCacheData
                if !lastID.isEmpty { next.setValue(lastID, forHTTPHeaderField: "Last-Event-ID") }
                var (parser, splitter) = (EventParser(), LineSplitter())
                do throws(LoadError) {
                    let isEnded = try await self.read(next, isEventStream: true) { data throws(LoadError) in
                        guard let lines = splitter.append(data) else { throw Self.tooLong(request) }
                        for line in lines {
                            guard let event = try Self.event(line, &parser, request) else { continue }
                            continuation.yield(event)
                        }
                    }
                    if isEnded { return }
                } catch {
                    guard Self.retried.contains(error.code.rawValue), !Task.isCancelled else { throw error }
                }
                if !parser.lastID.isEmpty { lastID = parser.lastID }
                retry = parser.retry ?? retry
                guard (try? await Task.sleep(for: .seconds(retry))) != nil else { throw .cancelled(request.url) }
            }
        }
    }

    private static func event(_ line: [UInt8], _ parser: inout EventParser, _ request: URLRequest) throws(LoadError)
        -> ServerSentEvent?
    {
        do throws(EventParser.EventTooLong) { return try parser.append(line) } catch { throw tooLong(request) }
    }

    private static func tooLong(_ request: URLRequest) -> LoadError {
        LoadError(.dataLengthExceedsMaximum, "the server sent a line or an event that is too long", request.url)
    }

    /// Timed out, cannot connect, connection lost: errors that another attempt may solve.
    private static let retried: Set<Int> = [-1001, -1003, -1004, -1005]

    // MARK: Reading

    /// Reads a response in parts.
    ///
    /// - Returns: whether the server wants no further connection.
    @discardableResult
    private func read(
        _ request: URLRequest, isEventStream: Bool = false, _ receive: (Data) throws(LoadError) -> Void
    ) async throws(LoadError) -> Bool {
        let (loaded, _) = try await load(request, RequestBody(of: request))
        if isEventStream {
            if loaded.response.statusCode == 204 { return true }
            let type = loaded.response.value(forHTTPHeaderField: "Content-Type")?.lowercased() ?? ""
            guard loaded.response.statusCode == 200, type.hasPrefix("text/event-stream") else {
                throw LoadError(
                    .badServerResponse,
                    "expected 200 with text/event-stream, found \(loaded.response.statusCode) with \(type)", request.url
                )
            }
        }
        switch loaded.body {
        case .stored(let data): try receive(data)
        case .network(let body, _):
            var reader = BodyReader(body, request.url)
            while let data = try await reader.next() { try receive(data) }
        }
        return false
    }

    private func sequence<Element: Sendable>(
        _ produce:
            @escaping @Sendable (AsyncThrowingStream<Element, any Error>.Continuation) async throws(LoadError) ->
            Void
    ) -> AsyncThrowingStream<Element, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do throws(LoadError) {
                    try await produce(continuation)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error.urlError)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
