// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import NIOCore

/// A final response, and where its body comes from.
struct LoadedResponse: Sendable {
    let response: HTTPURLResponse
    let body: Body

    enum Body: Sendable {
        case stored(Data)
        /// The recorder keeps the bytes that are read, for the cache.
        case network(HTTPResponseBody, CacheRecorder?)
    }
}

extension HTTPExchange {
    /// The values of all fields with this name, in order.
    func values(_ name: String) -> [String] {
        fields.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.map(\.value)
    }

    /// The response for programs.
    ///
    /// - Parameter omitted: names of fields, in lower case, that it does not have.
    func response(_ url: URL, omitting omitted: Set<String> = []) -> HTTPURLResponse? {
        var joined: [String: (name: String, value: String)] = [:]
        for field in fields {
            let key = field.name.lowercased()
            guard !omitted.contains(key) else { continue }
            joined[key] = (
                joined[key]?.name ?? field.name, joined[key].map { "\($0.value), \(field.value)" } ?? field.value
            )
        }
        let named = Dictionary(joined.values.map { ($0.name, $0.value) }) { first, _ in first }
        return HTTPURLResponse(
            url: url, statusCode: status, httpVersion: version == "2" ? "HTTP/2" : "HTTP/\(version)",
            headerFields: named)
    }

    /// Reads a short body to its end, so that the connection can be used again. A longer one ends
    /// with its connection.
    func discard() async {
        guard let length = values("Content-Length").first.flatMap({ Int($0) }), length <= Self.maxDiscarded else {
            return
        }
        var iterator = body.makeAsyncIterator()
        while let _ = try? await iterator.next() {}
    }

    private static let maxDiscarded = 64 << 10
}
