// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// Follows the reports of one connection, and finds answers that libfido2 must not see.
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

    /// Returns the problem of the answer that this report completes; nil if there is no problem, or if libfido2 rejects
    /// the report itself.
    mutating func received(_ report: [UInt8]) -> String? {
        guard let command, let frame = Frame(report), frame.channel == channel,
            frame.command != Frame.keepalive
        else { return nil }
        if frame.command != nil {
            expectedCount = frame.count
            message = []
        }
        guard let count = expectedCount else { return nil }
        message += frame.bytes
        guard message.count >= count else { return nil }
        defer { expectedCount = nil }
        return AnswerCheck(command: command).problem(of: Array(message.prefix(count)))
    }
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
        var fields = FieldReader(report)
        guard let channel = fields.array(4), let type: UInt8 = fields.number() else { return nil }
        self.channel = channel
        let isFirst = type & 0x80 != 0
        command = isFirst ? type & 0x7F : nil
        count = isFirst ? Int(fields.number(UInt16.self) ?? 0) : 0
        bytes = fields.rest
    }

    static let cbor: UInt8 = 0x10
    static let keepalive: UInt8 = 0x3B
}
