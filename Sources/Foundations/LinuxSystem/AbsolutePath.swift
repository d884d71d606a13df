// SPDX-License-Identifier: Apache-2.0

internal import Glibc

public enum AbsolutePath {
    /// Returns the path from the root, so that it means the same after chdir(2). It is not resolved.
    public static func of(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return "\(String(cString: current))/\(path)"
    }
}
