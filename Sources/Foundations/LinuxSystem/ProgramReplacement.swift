// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Replaces the program of this process.
public enum ProgramReplacement {
    /// Executes a file in this process, with its environment, streams and working directory. Returns
    /// only if that fails.
    ///
    /// - Parameters:
    ///   - path: the path of the executable, not searched in PATH.
    ///   - words: its arguments, its name first, byte for byte.
    public static func execute(_ path: String, _ words: [[UInt8]]) -> SystemError {
        let arguments = ChildProcess.copies(of: words)
        defer { for text in arguments { free(text) } }
        execv(path, arguments)
        return .last("run", path: path)
    }
}
