// SPDX-License-Identifier: Apache-2.0

/// A ``SecretBytes`` with several owners; it is wiped when the last one lets go.
public final class SharedSecret: Sendable {
    private let bytes: SecretBytes

    public init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// A copy of `bytes`. The original is the caller's to wipe.
    public convenience init(copying bytes: some Sequence<UInt8>) {
        self.init(SecretBytes(bytes))
    }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Lends the bytes for the duration of the call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes(body)
    }

    /// A copy with one owner.
    public func copy() -> SecretBytes {
        bytes.copy()
    }
}

// MARK: Equatable

extension SharedSecret: Equatable {
    /// Compares in a time that depends on the lengths alone.
    public static func == (one: SharedSecret, other: SharedSecret) -> Bool {
        one.bytes.isEqual(to: other.bytes)
    }
}

// MARK: CustomStringConvertible, CustomReflectable

extension SharedSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `<redacted 32 bytes>`.
    public var description: String { bytes.description }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
