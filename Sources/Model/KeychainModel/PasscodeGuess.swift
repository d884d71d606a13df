// SPDX-License-Identifier: Apache-2.0

/// A program that gave wrong passcodes since the last one that was accepted.
public struct PasscodeGuess: Sendable, Equatable {
    /// The path of the program; cut, with `…` at its end, where it is very long.
    public var program: String
    /// nil where it is not known.
    public var user: UInt32?
    /// The process that gave the last one; nil where it is not known.
    public var process: Int32?
    /// How many it gave, the same ones counted each time.
    public var count: Int
    /// When it gave the first one, in seconds since 1970.
    public var first: Double
    /// When it gave the last one, in seconds since 1970.
    public var last: Double

    public init(program: String, user: UInt32?, process: Int32?, count: Int, first: Double, last: Double) {
        self.program = program
        self.user = user
        self.process = process
        self.count = count
        self.first = first
        self.last = last
    }
}
