// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Files of /proc, whose size is said to be zero and which are therefore read to their end.
enum ProcFile {
    /// The text of the file; nil where it cannot be opened.
    static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var all: [UInt8] = []
        let capacity = 4096
        var buffer = [UInt8](repeating: 0, count: capacity)
        while true {
            let count = fread(&buffer, 1, capacity, file)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += buffer[..<count]
        }
    }

    /// The rest of the first line that starts with `name`.
    static func value(after name: String, in text: String) -> String? {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        guard let line else { return nil }
        return String(line.dropFirst(name.count).drop { $0 == " " || $0 == "\t" || $0 == ":" })
    }

    /// The number that starts that rest: `VmRSS:     1234 kB`.
    static func number(after name: String, in text: String) -> Int? {
        value(after: name, in: text)?.split(separator: " ").first.flatMap { Int($0) }
    }
}
