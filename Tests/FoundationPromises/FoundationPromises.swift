// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Calls of Foundation and their results, as lines of text. PlainPromises and RedirectedPromises are the same calls in a
/// program without and with the redirections.
public enum FoundationPromises {
    /// Runs the calls that the arguments name, and prints the results.
    ///
    /// - Parameter arguments: `files DIRECTORY`, `defaults`, `protection DIRECTORY`, `load NAME URL` or
    ///   `credential USER PASSWORD URL`.
    /// - Returns: the exit status: 2 for other arguments.
    public static func run(_ arguments: [String]) async -> Int32 {
        let words = arguments.dropFirst()
        switch (arguments.first, words.count) {
        case ("files", 1): FilePromises(URL(filePath: words[1])).run()
        case ("defaults", 0): DefaultsPromises.run()
        case ("protection", 1): ProtectionPromises(URL(filePath: words[1])).run()
        case ("load", 2): await SessionPromises.load(words[1], words[2])
        case ("credential", 3): await SessionPromises.load(user: words[1], password: words[2], words[3])
        default: return 2
        }
        return 0
    }
}

/// Prints a line with the result of a call, or with its error.
func say(_ name: String, _ result: () throws -> Any?) {
    let text: String
    do {
        let value = try result()
        text = value.map { "\($0)" } ?? "nil"
    } catch { text = "\(type(of: error)) \((error as NSError).domain) \((error as NSError).code)" }
    say("\(name): \(text)")
}

/// Prints a line at once, so that a program that is killed has printed it.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
