// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The programs of one installation of Latchkey: `PREFIX/bin` has the commands, and `PREFIX/libexec/latchkey` the daemons.
/// A build has all of them in one directory.
public struct Installation: Sendable {
    /// In the order of the search for a program.
    public let directories: [String]

    /// - Parameter executable: the path of one of the programs.
    public init(of executable: String) {
        let own = ParentDirectory.of(executable) ?? "."
        if own.hasSuffix(Self.daemons) {
            directories = [own, "\(own.dropLast(Self.daemons.count))\(Self.commands)"]
        } else if own.hasSuffix(Self.commands) {
            // Before its own: an older version had the daemons there.
            directories = ["\(own.dropLast(Self.commands.count))\(Self.daemons)", own]
        } else {
            // Of a program elsewhere, every user may be able to create such a directory.
            directories = [own]
        }
    }

    /// The installation of the program that this process executes; nil without /proc.
    public static var current: Installation? { ownExecutable.map(Installation.init(of:)) }

    /// The path of the program that this process executes; nil without /proc.
    public static var ownExecutable: String? { ProcessDirectory(getpid()).executable }

    /// Returns the path of the program with this name; nil if it is not installed. A directory of `PATH` is never
    /// looked at: a program there can be anything.
    public func program(_ name: String) -> String? {
        directories.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    private static let commands = "/bin"
    private static let daemons = "/libexec/latchkey"
}
