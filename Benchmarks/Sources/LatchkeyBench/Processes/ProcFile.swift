// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Files of /proc. They are read to their end because their size is reported as zero.
enum ProcFile {
    /// Returns the text of the file; nil if it cannot be opened.
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

    /// Returns the rest of the first line that starts with `name`.
    static func value(after name: String, in text: String) -> String? {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        guard let line else { return nil }
        return String(line.dropFirst(name.count).drop { $0 == " " || $0 == "\t" || $0 == ":" })
    }

    /// Returns the number at the start of that rest, as in `VmRSS:     1234 kB`.
    static func number(after name: String, in text: String) -> Int? {
        value(after: name, in: text)?.split(separator: " ").first.flatMap { Int($0) }
    }
}
