// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import TransportPolicy

/// The checks of a response's head and trailers.
struct ResponseReview {
    let limits: HTTPLimits
    let isMultiplexed: Bool
    private var informational = 0

    init(_ limits: HTTPLimits, isMultiplexed: Bool) { (self.limits, self.isMultiplexed) = (limits, isMultiplexed) }

    /// The head of the final response; nil for an informational one.
    mutating func head(_ head: HTTPResponseHead) throws(HTTPFailure) -> ResponseHead? {
        let status = Int(head.status.code)
        guard 100...999 ~= status else { throw Self.malformed("found the status \(status)") }
        let fields = try fields(head.headers)
        guard status >= 200 else {
            guard status != 101 else { throw Self.malformed("it changes the protocol without a request") }
            informational += 1
            guard informational <= HTTPLimits.maxInformationalResponses else {
                throw Self.malformed("more than \(HTTPLimits.maxInformationalResponses) informational responses")
            }
            return nil
        }
        // The codec of HTTP/2 adds the field for its users.
        if isMultiplexed {
            return ResponseHead(status: status, fields: fields.filter { $0.name.lowercased() != "transfer-encoding" })
        }
        let codings = fields.values(of: "transfer-encoding")
        guard codings.isEmpty || fields.values(of: "content-length").isEmpty else {
            throw Self.malformed("it has both Content-Length and Transfer-Encoding")
        }
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            throw Self.malformed("the transfer encoding must be chunked, found \(codings.joined(separator: ", "))")
        }
        return ResponseHead(status: status, fields: fields)
    }

    func trailers(_ trailers: HTTPHeaders?) throws(HTTPFailure) {
        if let trailers { _ = try fields(trailers) }
    }

    private func fields(_ headers: HTTPHeaders) throws(HTTPFailure) -> [HTTPField] {
        guard headers.count <= limits.maxFields else {
            throw HTTPFailure(
                .dataLengthExceedsMaximum,
                "a response must have at most \(limits.maxFields) fields, found \(headers.count)")
        }
        var (fields, length): ([HTTPField], Int) = ([], 0)
        for (name, value) in headers {
            length += name.utf8.count + value.utf8.count
            guard let field = HTTPField(name, value) else { throw Self.malformed("the field \(name) is invalid") }
            fields.append(field)
        }
        guard length <= limits.maxFieldBytes else {
            throw HTTPFailure(
                .dataLengthExceedsMaximum,
                "the fields of a response must have at most \(limits.maxFieldBytes) bytes, found \(length)")
        }
        return fields
    }

    private static func malformed(_ reason: String) -> HTTPFailure {
        HTTPFailure(.cannotParseResponse, "the response is not accepted: \(reason)")
    }
}
