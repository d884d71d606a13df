// SPDX-License-Identifier: Apache-2.0

/// Follows the reports of one connection, and finds answers that libfido2 must not see.
///
/// A device may announce any number of signatures (CTAP 2.1, 6.2, `numberOfCredentials`), for which
/// libfido2 would allocate memory. Every request names one credential, so there is one signature.
struct AnswerInspector {
    /// The channel of the last request, and its command.
    private var channel: [UInt8] = []
    private var command: UInt8?
    /// The message that is arriving.
    private var message: [UInt8] = []
    private var expectedCount: Int?

    /// Notes a report to the device.
    mutating func sent(_ report: [UInt8]) {
        guard let frame = Frame(report), frame.command == Frame.cbor, let first = frame.bytes.first else { return }
        (channel, command, message, expectedCount) = (frame.channel, first, [], nil)
    }

    /// Returns what is wrong with the answer that this report completes; nil if there is nothing,
    /// or if libfido2 rejects the report itself.
    mutating func received(_ report: [UInt8]) -> String? {
        guard command == Self.getAssertion, let frame = Frame(report), frame.channel == channel,
            frame.command != Frame.keepalive
        else { return nil }
        if frame.command != nil {
            expectedCount = frame.count
            message = []
        }
        message += frame.bytes
        guard let count = expectedCount, message.count >= count else { return nil }
        defer { expectedCount = nil }
        return Self.problem(of: Array(message.prefix(count)))
    }

    /// Returns what is wrong with an answer: its status, and a map.
    private static func problem(of message: [UInt8]) -> String? {
        guard message.first == 0 else { return nil }
        var reader = CBORReader(message.dropFirst())
        guard let map = reader.head(), map.type == CBORReader.map else { return "it is not CBOR" }
        for _ in 0..<min(map.number, message.count) {
            var key = reader
            if let head = key.head(), head.type == 0, head.number == numberOfCredentials {
                return "it announces several signatures"
            }
            guard reader.skip(), reader.skip() else { return "it is not CBOR" }
        }
        return nil
    }

    private static let getAssertion: UInt8 = 2
    /// The key of the number of signatures in an answer.
    private static let numberOfCredentials = 5
}

/// A report of CTAPHID (CTAP 2.1, 11.2.4): the first one of a message, or a continuation.
private struct Frame {
    let channel: [UInt8]
    /// Nil for a continuation.
    let command: UInt8?
    /// The length of the message in bytes; 0 for a continuation.
    let count: Int
    let bytes: ArraySlice<UInt8>

    /// Nil if the report does not have 64 bytes.
    init?(_ report: [UInt8]) {
        guard report.count == HIDConnection.reportCount else { return nil }
        var rest = report[...]
        channel = (0..<4).compactMap { _ in rest.popFirst() }
        let type = rest.popFirst() ?? 0
        let isFirst = type & 0x80 != 0
        command = isFirst ? type & 0x7F : nil
        count = isFirst ? (0..<2).compactMap { _ in rest.popFirst() }.reduce(0) { $0 << 8 | Int($1) } : 0
        bytes = rest
    }

    static let cbor: UInt8 = 0x10
    static let keepalive: UInt8 = 0x3B
}
