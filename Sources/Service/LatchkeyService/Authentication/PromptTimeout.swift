// SPDX-License-Identifier: Apache-2.0

/// How long one question waits for the person's answer.
public struct PromptTimeout: Sendable, Hashable {
    /// 5 to 3600.
    public let seconds: Int

    /// Nil for a number that is not allowed: in less than five seconds, no person can type a
    /// passcode.
    public init?(seconds: Int) {
        guard Self.allowedSeconds.contains(seconds) else { return nil }
        self.init(unchecked: seconds)
    }

    private init(unchecked seconds: Int) { self.seconds = seconds }

    /// Two minutes.
    public static let standard = PromptTimeout(unchecked: 120)
    public static let allowedSeconds = 5...3600

    var nanoseconds: UInt64 { UInt64(seconds) * 1_000_000_000 }
}
