// SPDX-License-Identifier: Apache-2.0

/// A status of the keychain: one of Apple's `OSStatus` numbers.
///
/// The code is open. A number that no table knows (from a newer peer, from a store, from a user) is a status like any other and is never
/// folded into "other error". Compare codes, or match them in a `switch`:
///
/// ```swift
/// switch code {
/// case .itemNotFound: return nil
/// case .interactionNotAllowed: throw Locked()
/// default: throw Unexpected(code)
/// }
/// ```
public struct OSStatusCode: RawRepresentable, Hashable, Sendable {
    /// Apple's number, as it stands in an `OSStatus`.
    public let rawValue: Int32

    /// The status with this number, whether or not it has a name.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Apple's name, such as `errSecItemNotFound`; `nil` for a number without one.
    public var name: String? {
        Self.entries[rawValue]?.name
    }

    /// What happened, in a few words of our own: lower case, no final period; `nil` for a number without a name.
    public var message: String? {
        Self.entries[rawValue]?.message
    }

    /// The exit value of a program that fails with this status: the number modulo 256, as Apple's `security` does it.
    ///
    /// Only success exits with 0. A failure whose number is a multiple of 256 (`errSecInvalidStopOnPolicy` is one) exits with 1, for a
    /// script must never take it for success.
    public var exitCode: UInt8 {
        let truncated = UInt8(truncatingIfNeeded: rawValue)
        return truncated == 0 && rawValue != 0 ? 1 : truncated
    }

    /// Matches a bare number, so that a `switch` over an `OSStatus` can have cases like `OSStatusCode.itemNotFound`.
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
    /// A status that has a name, and what it means.
    public struct Entry: Hashable, Sendable {
        /// The status itself.
        public let code: OSStatusCode

        /// Apple's name for it, with the `errSec` in front.
        public let name: String

        /// What happened, in our own words.
        public let message: String

        init(_ number: Int32, _ name: String, _ message: String) {
            self.code = OSStatusCode(rawValue: number)
            self.name = name
            self.message = message
        }
    }

    /// Every status with a name, by descending number, success first.
    public static let all: [Entry] = table

    /// The table by number. A number that stands twice in it is a mistake, which the tests find; here the first entry counts.
    private static let entries: [Int32: Entry] = Dictionary(
        table.map { ($0.code.rawValue, $0) },
        uniquingKeysWith: { first, _ in first }
    )
}
