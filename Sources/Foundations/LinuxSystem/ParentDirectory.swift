// SPDX-License-Identifier: Apache-2.0

/// The parent directory of a path.
public enum ParentDirectory {
    /// Returns the parent directory of a path; nil if it has none, because it is empty or the root.
    public static func of(_ path: String) -> String? {
        let parts = path.split(separator: "/")
        guard !parts.isEmpty else { return nil }
        let parent = parts.dropLast().map(String.init).concatenated(separator: "/")
        if path.hasPrefix("/") { return "/\(parent)" }
        return parent.isEmpty ? "." : parent
    }
}
