// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// A header or trailer field of an HTTP message.
public struct HTTPField: Hashable, Sendable {
    /// The name, in any case.
    public let name: String
    /// The value as it is on the wire, without the line break.
    public let value: String

    /// A field. It is validated as a part of an ``HTTPMessageHead``.
    public init(_ name: String, _ value: String) {
        (self.name, self.value) = (name, value)
    }
}

/// The part of an HTTP request or response that a signature can cover: method and target, or status,
/// and the fields.
public struct HTTPMessageHead: Sendable {
    enum Start: Sendable {
        case request(method: String, target: HTTPTarget)
        case response(status: Int)
    }

    indirect enum Related: Sendable {
        case none
        case request(HTTPMessageHead)
    }

    let start: Start
    let related: Related
    /// The names are in lowercase, the values trimmed and without line folding.
    let fields, trailers: [HTTPField]

    /// The longest head in bytes, and the most fields.
    static let (maxLength, maxFields) = (256 * 1024, 512)

    private init(_ start: Start, _ related: Related, _ fields: [HTTPField], _ trailers: [HTTPField])
        throws(KeychainError)
    {
        let length = (fields + trailers).reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard fields.count + trailers.count <= Self.maxFields, length <= Self.maxLength else {
            throw .parameter("a message has at most \(Self.maxFields) fields with \(Self.maxLength) bytes")
        }
        (self.start, self.related) = (start, related)
        self.fields = try Self.normalized(fields)
        self.trailers = try Self.normalized(trailers)
    }

    /// A request.
    ///
    /// - Parameters:
    ///   - method: a token, such as `GET`.
    ///   - url: the absolute URL, as a client names it: `https://example.com/path?query`.
    ///   - fields: the header section, in order.
    ///   - trailers: the trailer section, in order.
    /// - Throws: `errSecParam` for anything that is not a valid HTTP message.
    public static func request(
        _ method: String, url: String, fields: [HTTPField], trailers: [HTTPField] = []
    ) throws(KeychainError) -> HTTPMessageHead {
        guard !method.isEmpty, method.utf8.count <= 64, method.utf8.allSatisfy(\.isTokenCharacter) else {
            throw .parameter("the method must be a token, such as GET")
        }
        return try HTTPMessageHead(
            .request(method: method, target: try HTTPTarget(url: url)), .none, fields, trailers)
    }

    /// A response.
    ///
    /// - Parameters:
    ///   - status: the status code, with three digits.
    ///   - request: the request that it answers, for components of it (`req`).
    ///   - fields: the header section, in order.
    ///   - trailers: the trailer section, in order.
    /// - Throws: `errSecParam` for anything that is not a valid HTTP message.
    public static func response(
        _ status: Int, to request: HTTPMessageHead? = nil, fields: [HTTPField], trailers: [HTTPField] = []
    ) throws(KeychainError) -> HTTPMessageHead {
        guard 100...999 ~= status else { throw .parameter("a status has three digits, found \(status)") }
        if let request, case .response = request.start {
            throw .parameter("a response answers a request, and not a response")
        }
        return try HTTPMessageHead(
            .response(status: status), request.map(Related.request) ?? .none, fields, trailers)
    }

    /// The message with more fields, such as those of a signature.
    public func adding(_ more: [HTTPField]) throws(KeychainError) -> HTTPMessageHead {
        try HTTPMessageHead(start, related, fields + more, trailers)
    }

    /// The values of the fields with this name in lowercase, in order.
    func values(of name: String, inTrailers: Bool = false) -> [String] {
        (inTrailers ? trailers : fields).filter { $0.name == name }.map(\.value)
    }

    /// The values joined as one (RFC 9110, section 5.3); nil if there is no such field.
    func combinedValue(of name: String, inTrailers: Bool = false) -> String? {
        let values = values(of: name, inTrailers: inTrailers)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    private static func normalized(_ fields: [HTTPField]) throws(KeychainError) -> [HTTPField] {
        var normalized: [HTTPField] = []
        for field in fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenCharacter) else {
                throw .parameter("the name of a field must be a token")
            }
            let value = unfolded(field.value)
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .parameter("the value of the field \(field.name) has a control character")
            }
            normalized.append(HTTPField(field.name.lowercased(), value))
        }
        return normalized
    }

    /// Replaces folded lines by one space, and removes white space at both ends (RFC 9421, section
    /// 2.1).
    private static func unfolded(_ value: String) -> String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
        var (result, rest) = (String.UnicodeScalarView(), value.unicodeScalars[...])
        while let scalar = rest.popFirst() {
            var after = rest
            if scalar == "\r", after.popFirst() == "\n", after.first.map(isSpace) == true {
                while let last = result.last, isSpace(last) { result.removeLast() }
                result.append(" ")
                rest = after.drop(while: isSpace)
            } else {
                result.append(scalar)
            }
        }
        while let last = result.last, isSpace(last) { result.removeLast() }
        return String(String.UnicodeScalarView(result.drop(while: isSpace)))
    }
}

/// The target of a request: scheme, authority, path and query, normalized as RFC 9421, section 2.2,
/// requires.
struct HTTPTarget: Sendable {
    /// In lowercase.
    let scheme: String
    /// In lowercase, without the default port.
    let authority: String
    /// Not empty.
    let path: String
    /// Without the question mark; nil if there is none.
    let query: String?

    static let maxLength = 64 * 1024

    init(url: String) throws(KeychainError) {
        guard url.utf8.count <= Self.maxLength, url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw .parameter("a URL must be printable ASCII without spaces, and at most \(Self.maxLength) bytes long")
        }
        guard let mark = url.firstRange(of: "://") else {
            throw .parameter("the URL must be absolute: https://example.com/path")
        }
        scheme = url.prefix(upTo: mark.lowerBound).lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw .parameter("the scheme of the URL must be https or http, found \(scheme)")
        }
        let rest = url.suffix(from: mark.upperBound)
        guard !rest.contains("#") else { throw .parameter("the URL of a request has no fragment") }
        let host = rest.prefix { $0 != "/" && $0 != "?" }
        guard !host.isEmpty, !host.contains("@") else {
            throw .parameter("the URL must have a host, and no user name")
        }
        let name = host.lowercased()
        let port = scheme == "https" ? ":443" : ":80"
        authority = name.hasSuffix(port) ? String(name.dropLast(port.count)) : name
        let target = rest.dropFirst(host.count)
        let path = target.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : String(path)
        query = path.count < target.count ? String(target.dropFirst(path.count).dropFirst()) : nil
    }

    /// The value of the named parameter, encoded; the name is encoded as well.
    func queryParameter(_ name: String) throws(KeychainError) -> String {
        var found: [String] = []
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first.flatMap(PercentEncoding.decodeForm) else { throw Self.notDecodable }
            guard PercentEncoding.encodeForm(key) == name else { continue }
            guard let value = PercentEncoding.decodeForm(parts.dropFirst().first ?? "") else {
                throw Self.notDecodable
            }
            found.append(PercentEncoding.encodeForm(value))
        }
        guard let value = found.first else {
            throw .parameter("the query has no parameter \(name)")
        }
        // RFC 9421, section 2.2.8: such a parameter must not be covered by name.
        guard found.count == 1 else {
            throw KeychainError(
                .param, "the query parameter \(name) occurs \(found.count) times", hint: "cover the whole query")
        }
        return value
    }

    private static var notDecodable: KeychainError {
        KeychainError(
            .param, "the query is not percent-encoded UTF-8", hint: "cover the whole query instead of a parameter")
    }
}
