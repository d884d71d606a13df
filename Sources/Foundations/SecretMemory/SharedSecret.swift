// SPDX-License-Identifier: Apache-2.0

/// A ``SecretBytes`` with several owners; it is wiped when the last reference ends.
public final class SharedSecret: Sendable {
    private let bytes: SecretBytes

    /// Takes ownership of the bytes.
    public init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// Copies `bytes`. The caller must wipe the original.
    public convenience init(copying bytes: some Sequence<UInt8>) {
        self.init(SecretBytes(bytes))
    }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Calls `body` with the bytes, valid for the duration of the call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes(body)
    }

    /// Returns a copy with one owner.
    public func copy() -> SecretBytes {
        bytes.copy()
    }
}

// MARK: Equatable

extension SharedSecret: Equatable {
    /// Compares the bytes. The time depends on the lengths only.
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
