// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A configuration file of the administrator: lines of `name = value`, and comments after `#`. Each
/// name occurs at most once and must be known.
public struct ConfigurationFile: Sendable {
    public struct Line: Sendable {
        public let name: String
        public let value: String
        /// The line number, starting with 1.
        public let number: Int
    }

    /// For messages.
    public let path: String
    public let lines: [Line]

    /// - Parameters:
    ///   - owner: the required owner of the file.
    ///   - names: the known names.
    /// - Returns: nil if the file does not exist.
    /// - Throws: `SystemError` if other users can write the file, or if a line is not valid; such a
    ///   line is never skipped.
    public static func read(_ place: FilePath, owner: UInt32 = 0, names: Set<String>) throws(SystemError)
        -> ConfigurationFile?
    {
        let path = place.description
        guard let status = try FileStatus.of(place) else { return nil }
        try status.requireWrittenOnly(by: owner, path: path)
        guard let bytes = try BoundedFile.read(place, limit: maxLength) else { return nil }
        var lines: [Line] = []
        let texts = String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, text) in texts.enumerated() {
            let content = text.prefix { $0 != "#" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false
            ).map(trimmed)
            guard content != [""] else { continue }
            guard content.count == 2, let name = content.first, let value = content.last, names.contains(name),
                !lines.contains(where: { $0.name == name })
            else {
                throw SystemError(
                    "parse line \(index + 1) of", path: path, code: EINVAL,
                    hint:
                        "expected NAME = VALUE, each name once; the names are: \(names.sorted().joined(separator: ", "))"
                )
            }
            lines.append(Line(name: name, value: value, number: index + 1))
        }
        return ConfigurationFile(path: path, lines: lines)
    }

    @_disfavoredOverload
    public static func read(_ path: String, owner: UInt32 = 0, names: Set<String>) throws(SystemError)
        -> ConfigurationFile?
    {
        try read(FilePath(path), owner: owner, names: names)
    }

    /// Returns the error for a line with a value that is not one of `expected`.
    public func refusal(of line: Line, expected: String) -> SystemError {
        SystemError(
            "parse line \(line.number) of", path: path, code: EINVAL, hint: "expected \(line.name) = \(expected)")
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// 64 KiB.
    private static let maxLength = 64 << 10
}
