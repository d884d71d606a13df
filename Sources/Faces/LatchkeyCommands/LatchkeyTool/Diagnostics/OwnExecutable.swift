// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The file that this process executes, beside which the other programs of Latchkey are installed.
enum OwnExecutable {
    /// nil if there is no /proc.
    static var path: String? { ProcessDirectory(getpid()).executable }

    static func place(of name: String, beside executable: String) -> String {
        "\(executable.lastIndex(of: "/").map { executable[..<$0] } ?? ".")/\(name)"
    }

    static func exists(_ name: String, beside executable: String) -> Bool {
        access(place(of: name, beside: executable), X_OK) == 0
    }
}
