// SPDX-License-Identifier: Apache-2.0

/// The directory that holds what a path names.
public enum ParentDirectory {
    /// - Returns: nil where the path has none: it is empty, or the root.
    public static func of(_ path: String) -> String? {
        let parts = path.split(separator: "/")
        guard !parts.isEmpty else { return nil }
        let parent = parts.dropLast().joined(separator: "/")
        if path.hasPrefix("/") { return "/\(parent)" }
        return parent.isEmpty ? "." : parent
    }
}
