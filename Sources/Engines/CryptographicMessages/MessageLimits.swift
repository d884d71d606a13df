// SPDX-License-Identifier: Apache-2.0

/// The limits on the cost of a message from a stranger. A message beyond a limit is refused with errSecDataTooLarge.
public struct MessageLimits: Hashable, Sendable {
    /// The size of the message in bytes.
    public var byteCount = 1 << 28
    /// The elements of BER. A certificate has about 150. A content of 256 MiB in segments of 1 KiB has as many as this
    /// limit.
    public var elements = 1 << 18 + 1 << 14
    /// The depth of elements in elements.
    public var depth = 64
    public var certificates = 256
    public var signers = 32
    public var recipients = 1024
    /// The attributes of one signer.
    public var attributes = 64

    public init() {}

    /// 256 MiB, 256 certificates, 32 signers, 1024 recipients.
    public static let standard = MessageLimits()
}
