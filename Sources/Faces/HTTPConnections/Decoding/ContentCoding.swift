// SPDX-License-Identifier: Apache-2.0

internal import TransportPolicy

/// A coding of content (RFC 9110, section 8.4.1).
enum ContentCoding: Sendable {
    case gzip
    case deflate
    case brotli

    /// The value of `Accept-Encoding`: the codings that this process can decode; nil for none.
    static var accepted: String? {
        let names = (Zlib.shared == nil ? [] : ["gzip", "deflate"]) + (Brotli.shared == nil ? [] : ["br"])
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Returns the codings of a response in the order of their application; empty if one of them is not known, because
    /// the content is then handed over as it is.
    static func applied(_ fields: [HTTPField]) throws(HTTPFailure) -> [ContentCoding] {
        let names = fields.values(of: "content-encoding").flatMap { $0.split(separator: ",") }
            .map { $0.trimmingPrefix { $0 == " " || $0 == "\t" }.lowercased() }
            .map { String($0.reversed().drop { $0 == " " || $0 == "\t" }.reversed()) }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard names.count <= HTTPLimits.maxContentCodings else {
            throw HTTPFailure(
                .cannotDecodeContentData,
                "at most \(HTTPLimits.maxContentCodings) content encodings are supported, found \(names.count)")
        }
        let codings = names.compactMap(Self.init(name:))
        return codings.count == names.count ? codings : []
    }

    private init?(name: String) {
        switch name {
        case "gzip" where Zlib.shared != nil, "x-gzip" where Zlib.shared != nil: self = .gzip
        case "deflate" where Zlib.shared != nil: self = .deflate
        case "br" where Brotli.shared != nil: self = .brotli
        default: return nil
        }
    }

    func decoder() -> (any ContentDecoder)? {
        switch self {
        case .gzip: Zlib.shared.map { ZlibDecoder($0, .gzip) }
        case .deflate: Zlib.shared.map { ZlibDecoder($0, .deflate) }
        case .brotli: Brotli.shared.map { BrotliDecoder($0) }
        }
    }
}
