// SPDX-License-Identifier: Apache-2.0

/// A program that sent wrong passcodes since the last right one.
public struct PasscodeGuess: Sendable, Equatable {
    /// The path of the program; a very long path is truncated and ends with `…`.
    public var program: String
    /// nil if unknown.
    public var user: UInt32?
    /// The process that sent the last one; nil if unknown.
    public var process: Int32?
    /// How many wrong passcodes it sent, repetitions included.
    public var count: Int
    /// When it sent the first one, in seconds since 1970.
    public var first: Double
    /// When it sent the last one, in seconds since 1970.
    public var last: Double

    /// Creates the report of a program's wrong passcodes.
    public init(program: String, user: UInt32?, process: Int32?, count: Int, first: Double, last: Double) {
        self.program = program
        self.user = user
        self.process = process
        self.count = count
        self.first = first
        self.last = last
    }
}
