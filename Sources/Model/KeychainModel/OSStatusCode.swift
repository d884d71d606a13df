// SPDX-License-Identifier: Apache-2.0

/// A status of the keychain: one of Apple's `OSStatus` numbers.
///
/// The set of codes is open. A number that is not in the table (from a newer peer, a store or a
/// user) is kept, and never mapped to an "other error". Compare codes, or match them in a `switch`:
///
/// ```swift
/// switch code {
/// case .itemNotFound: return nil
/// case .interactionNotAllowed: throw Locked()
/// default: throw Unexpected(code)
/// }
/// ```
public struct OSStatusCode: RawRepresentable, Hashable, Sendable {
    /// Apple's number, the value of an `OSStatus`.
    public let rawValue: Int32

    /// Creates the status with this number, whether or not it has a name.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Apple's name, such as `errSecItemNotFound`; `nil` for a number without one.
    public var name: String? {
        Self.entries[rawValue]?.name
    }

    /// A message of a few words: lower case, no final period; `nil` for a number without a name. The text is not
    /// Apple's.
    public var message: String? {
        Self.entries[rawValue]?.message
    }

    /// The exit value of a program that fails with this status: the number modulo 256, as in
    /// Apple's `security`.
    ///
    /// Only success exits with 0. A failure with a multiple of 256 as its number, such as `errSecInvalidStopOnPolicy`,
    /// exits with 1, so that a script does not mistake it for success.
    public var exitCode: UInt8 {
        let truncated = UInt8(truncatingIfNeeded: rawValue)
        return truncated == 0 && rawValue != 0 ? 1 : truncated
    }

    /// Matches a bare number, so that a `switch` over an `OSStatus` can have cases like
    /// `OSStatusCode.itemNotFound`.
    public static func ~= (code: OSStatusCode, status: Int32) -> Bool {
        code.rawValue == status
    }
}

// MARK: - CustomStringConvertible

extension OSStatusCode: CustomStringConvertible {
    /// `errSecItemNotFound (-25300)`, or `OSStatus -1234` for a number without a name.
    public var description: String {
        guard let name else { return "OSStatus \(rawValue)" }
        return "\(name) (\(rawValue))"
    }
}

// MARK: - The table

extension OSStatusCode {
    /// A status with its name and its message.
    public struct Entry: Hashable, Sendable {
        /// The status itself.
        public let code: OSStatusCode

        /// Apple's name, including the prefix `errSec`.
        public let name: String

        /// The message. The text is not Apple's.
        public let message: String

        init(_ number: Int32, _ name: String, _ message: String) {
            self.code = OSStatusCode(rawValue: number)
            self.name = name
            self.message = message
        }
    }

    /// Every status with a name, by descending number, success first.
    public static let all: [Entry] = table

    /// The table by number. Duplicate numbers are found by the tests; here the first entry is used.
    private static let entries: [Int32: Entry] = Dictionary(
        table.map { ($0.code.rawValue, $0) },
        uniquingKeysWith: { first, _ in first }
    )
}
