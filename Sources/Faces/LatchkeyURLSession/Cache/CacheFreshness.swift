// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking

/// How long a response may be used without asking its server (RFC 9111, section 4.2).
struct CacheFreshness: Sendable {
    private let directives: [String: String]
    private let date, expires, lastModified: Date?
    private let entityTag, lastModifiedText: String?
    private let age: Double
    private let varies: [String]

    init(_ response: HTTPURLResponse) {
        func value(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
        directives = Self.directives(value("Cache-Control"))
        date = value("Date").flatMap(HTTPDate.init)?.date
        // A date that cannot be read is in the past.
        expires = value("Expires").map { HTTPDate($0)?.date ?? .distantPast }
        lastModifiedText = value("Last-Modified")
        lastModified = lastModifiedText.flatMap(HTTPDate.init)?.date
        entityTag = value("ETag")
        age = value("Age").flatMap(Double.init) ?? 0
        varies = value("Vary")?.lowercased().split(whereSeparator: { ", \t".contains($0) }).map(String.init) ?? []
    }

    /// A response that depends on fields of the request is not stored, except on those that are
    /// always the same.
    var mayBeStored: Bool {
        directives["no-store"] == nil && varies.allSatisfy(["accept-encoding", "origin"].contains)
            && (lifetime > 0 || !conditions.isEmpty)
    }

    func isFresh(for request: URLRequest, at now: Date = Date()) -> Bool {
        let asked = Self.directives(request.value(forHTTPHeaderField: "Cache-Control"))
        guard directives["no-cache"] == nil, asked["no-cache"] == nil, let date else { return false }
        let currentAge = max(0, now.timeIntervalSince(date)) + max(0, age)
        let limit = asked["max-age"].flatMap(Double.init) ?? .infinity
        return currentAge < min(lifetime, limit)
    }

    /// The fields that ask whether the response has changed.
    var conditions: [(String, String)] {
        [entityTag.map { ("If-None-Match", $0) }, lastModifiedText.map { ("If-Modified-Since", $0) }]
            .compactMap(\.self)
    }

    /// In seconds. Without a statement of the server, a tenth of the time since the last change, at
    /// most a day.
    private var lifetime: Double {
        if let text = directives["max-age"] { return Double(text) ?? 0 }
        guard let date else { return 0 }
        if let expires { return expires.timeIntervalSince(date) }
        return lastModified.map { min(86_400, max(0, date.timeIntervalSince($0)) / 10) } ?? 0
    }

    /// By names in lower case; an empty text for those without a value.
    static func directives(_ text: String?) -> [String: String] {
        var directives: [String: String] = [:]
        for part in (text ?? "").prefix(4096).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard let name = pair.first else { continue }
            directives[name.lowercased()] = pair.count > 1 ? pair[1].trimmingCharacters(in: ["\""]) : ""
        }
        return directives
    }
}
