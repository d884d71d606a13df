// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file of the administrator's: lines of `name = value`, and comments behind `#`. Each name stands once, and none is unknown.
public struct ConfigurationFile: Sendable {
    public struct Line: Sendable {
        public let name: String
        public let value: String
        /// From 1 on.
        public let number: Int
    }

    public let path: String
    public let lines: [Line]

    /// - Parameters:
    ///   - owner: whom the file must belong to.
    ///   - names: every name that is known.
    /// - Returns: nil where there is no file.
    /// - Throws: where others than the owner can write it, or a line is not understood: it is never passed over.
    public static func read(_ path: String, owner: UInt32 = 0, names: Set<String>) throws(SystemError)
        -> ConfigurationFile?
    {
        guard let status = try FileStatus.of(path) else { return nil }
        try status.requireWrittenOnly(by: owner, path: path)
        guard let bytes = try BoundedFile.read(path, limit: maxLength) else { return nil }
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
                    "understand line \(index + 1) of", path: path, code: EINVAL,
                    hint:
                        "expected NAME = VALUE, each name once; the names are: \(names.sorted().joined(separator: ", "))"
                )
            }
            lines.append(Line(name: name, value: value, number: index + 1))
        }
        return ConfigurationFile(path: path, lines: lines)
    }

    /// The error of a line whose value is not one of `expected`.
    public func refusal(of line: Line, expected: String) -> SystemError {
        SystemError(
            "understand line \(line.number) of", path: path, code: EINVAL, hint: "expected \(line.name) = \(expected)")
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// 64 KiB.
    private static let maxLength = 64 << 10
}
