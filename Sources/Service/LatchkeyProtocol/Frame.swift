// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
public import SecretMemory

/// One unit on the wire: a message, and the secrets that it refers to by index.
///
/// ```
/// offset  length  content (numbers are big-endian)
/// 0       4       length m of the message
/// 4       4       number n of secrets
/// 8       4n      the length of each secret
/// 8+4n    m       the message, protobuf
/// …               the secrets, without separators
/// ```
public struct Frame: Sendable {
    public var message: [UInt8]
    public var secrets: [SharedSecret]

    public init(message: [UInt8], secrets: [SharedSecret] = []) {
        self.message = message
        self.secrets = secrets
    }

    /// The most bytes of secrets in one frame.
    public static var maxSecretsSize: Int { FrameHeader.maxSecretsSize }
}

/// The fixed part of a frame, and the limits of a frame.
struct FrameHeader: Equatable {
    var messageLength: Int
    var secretCount: Int

    /// Parses the first eight bytes.
    init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var fields = FieldReader(bytes)
        guard let messageLength: UInt32 = fields.number(), let secretCount: UInt32 = fields.number() else {
            throw Self.incomplete
        }
        (self.messageLength, self.secretCount) = (Int(messageLength), Int(secretCount))
        guard messageLength <= Self.maxMessageSize else {
            throw .malformed(
                "a frame announces a message of \(messageLength) bytes, at most \(Self.maxMessageSize) are allowed")
        }
        guard secretCount <= Self.maxCount else {
            throw .malformed("a frame announces \(secretCount) secrets, at most \(Self.maxCount) are allowed")
        }
    }

    private static let incomplete = WireError.malformed("a frame ends within its head")

    /// The number of bytes before the message.
    var headLength: Int { Self.length + 4 * secretCount }

    /// Parses the table of the secrets' lengths. It follows the first eight bytes.
    func secretLengths(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> [Int] {
        var (fields, lengths): (FieldReader, [Int]) = (FieldReader(bytes.dropFirst(Self.length)), [])
        for _ in 0..<secretCount {
            guard let length: UInt32 = fields.number() else { throw Self.incomplete }
            lengths.append(Int(length))
        }
        let total = lengths.reduce(0, +)
        guard total <= Self.maxSecretsSize else {
            throw .malformed("a frame announces \(total) bytes of secrets, at most \(Self.maxSecretsSize) are allowed")
        }
        return lengths
    }

    static let length = 8
    /// In bytes. The attributes of one item have at most 1 MiB. A message with several items, such as
    /// identities, can be longer: its sender refuses it.
    static let maxMessageSize = 4 << 20
    static let maxCount = 256
    /// In bytes. The secret half of an item has at most 4 MiB.
    static let maxSecretsSize = 5 << 20
}
