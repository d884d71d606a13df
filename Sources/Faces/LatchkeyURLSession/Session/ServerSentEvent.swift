// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An event of a server's stream (`text/event-stream`).
public struct ServerSentEvent: Hashable, Sendable {
    /// `message` if the server names no type.
    public let type: String
    public let data: String
    /// The last identifier that the server gave; empty if none.
    public let id: String
}

/// Splits bytes into lines that end with CR, LF or both.
struct LineSplitter {
    private var line: [UInt8] = []
    private var endsWithCR = false
    /// A server must not fill the memory with a line.
    static let maxLength = 1 << 20

    /// Returns the lines that are complete; nil if one is too long.
    mutating func append(_ bytes: Data) -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        for byte in bytes {
            defer { endsWithCR = byte == 0x0D }
            if byte == 0x0A, endsWithCR { continue }
            if byte == 0x0A || byte == 0x0D {
                lines.append(line)
                line = []
            } else {
                guard line.count < Self.maxLength else { return nil }
                line.append(byte)
            }
        }
        return lines
    }

    /// The text after the last end of a line.
    var rest: [UInt8]? { line.isEmpty ? nil : line }
}

/// Makes events of lines.
struct EventParser {
    private var (type, data): (String, [String]) = ("", [])
    private var dataLength = 0
    private(set) var lastID = ""
    /// In seconds, if the server has said it.
    private(set) var retry: Double?
    private var isFirstLine = true

    static let maxDataLength = 4 << 20

    /// Nil if no event ends with this line.
    ///
    /// - Throws: if an event is too long.
    mutating func append(_ bytes: [UInt8]) throws(EventTooLong) -> ServerSentEvent? {
        var line = String(decoding: bytes, as: UTF8.self)
        if isFirstLine, line.unicodeScalars.first == "\u{FEFF}" { line.unicodeScalars.removeFirst() }
        isFirstLine = false
        guard !line.isEmpty else { return dispatch() }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : ""
        if value.first == " " { value.removeFirst() }
        switch parts[0] {
        case "event": type = String(value)
        case "data":
            dataLength += value.utf8.count + 1
            guard dataLength <= Self.maxDataLength else { throw EventTooLong() }
            data.append(String(value))
        case "id": if !value.contains("\0") { lastID = String(value) }
        case "retry":
            if value.allSatisfy({ $0.isASCII && $0.isNumber }), let milliseconds = Double(value) {
                retry = min(milliseconds / 1000, Self.maxRetry)
            }
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (type, data, dataLength) = ("", [], 0) }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"), id: lastID)
    }

    struct EventTooLong: Error {}

    /// An hour.
    private static let maxRetry = 3600.0
}
