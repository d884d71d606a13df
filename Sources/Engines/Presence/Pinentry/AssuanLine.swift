// SPDX-License-Identifier: Apache-2.0

/// One line from pinentry ("Server responses"). The data of a line is a secret, and remains where
/// it was read.
enum AssuanLine {
    /// The command succeeded.
    case ok
    /// The command failed. The text is for messages only.
    case error(AssuanErrorCode, text: String)
    /// A part of the answer, with escapes.
    case data(UnsafeRawBufferPointer)
    /// The entry was typed twice, as `SETREPEAT` requests.
    case entryRepeated
    /// Any other status, or a comment.
    case remark

    /// Parses a line without its line feed.
    ///
    /// - Returns: nil if it is not a line of the protocol, or if it is a request for information, because this client
    ///   never offers information.
    init?(_ line: UnsafeRawBufferPointer) {
        if line.elementsEqual("OK".utf8) || line.starts(with: "OK ".utf8) {
            self = .ok
        } else if line.starts(with: "D ".utf8) {
            self = .data(UnsafeRawBufferPointer(rebasing: line.dropFirst(2)))
        } else if line.starts(with: "ERR ".utf8) {
            let fields = line.dropFirst(4).split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard let first = fields.first, let code = AssuanErrorCode(digits: first) else { return nil }
            self = .error(code, text: String(decoding: fields.dropFirst().joined().prefix(200), as: UTF8.self))
        } else if line.elementsEqual("S PIN_REPEATED".utf8) || line.starts(with: "S PIN_REPEATED ".utf8) {
            self = .entryRepeated
        } else if line.starts(with: "S ".utf8) || line.starts(with: "#".utf8) {
            self = .remark
        } else {
            return nil
        }
    }
}

/// The code of an error: its source is removed (libgpg-error, `gpg_err_code`).
struct AssuanErrorCode: Hashable {
    let value: UInt32

    init(_ value: UInt32) { self.value = value }

    /// Parses decimal digits.
    init?(digits: some Sequence<UInt8>) {
        var (whole, count): (UInt32, Int) = (0, 0)
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= byte else { return nil }
            let (tens, isTooLarge) = whole.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tens.addingReportingOverflow(UInt32(byte - UInt8(ascii: "0")))
            guard !isTooLarge, !isTooLargeNow else { return nil }
            (whole, count) = (sum, count + 1)
        }
        guard count > 0 else { return nil }
        value = whole & 0xFFFF
    }

    /// The answer did not come in time.
    static let timeout = AssuanErrorCode(62)
    static let cancelled = AssuanErrorCode(99)
    static let notConfirmed = AssuanErrorCode(114)
    static let fullyCancelled = AssuanErrorCode(198)
    /// The codes that end a displayed question.
    static let answers: Set<AssuanErrorCode> = [.timeout, .cancelled, .notConfirmed, .fullyCancelled]
}
