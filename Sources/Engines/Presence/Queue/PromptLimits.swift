// SPDX-License-Identifier: Apache-2.0

/// How many questions may be open, and when a program may not ask again.
public struct PromptLimits: Sendable, Hashable {
    /// The maximum number of open questions of a user, the displayed one and equal ones included.
    public var maxForUser: Int
    /// The maximum number of open questions of a program of a user.
    public var maxForProgram: Int
    /// The time, in seconds, in which two cancellations of one program count. After the second one,
    /// the program's questions are cancelled without a prompt for the same time.
    public var cancellationWindow: UInt64

    public init(maxForUser: Int = 64, maxForProgram: Int = 32, cancellationWindow: UInt64 = 10) {
        self.maxForUser = maxForUser
        self.maxForProgram = maxForProgram
        self.cancellationWindow = cancellationWindow
    }

    /// The window in nanoseconds.
    var window: UInt64 { cancellationWindow.multipliedReportingOverflow(by: 1_000_000_000).partialValue }
}
