// SPDX-License-Identifier: Apache-2.0

internal import Glibc

public enum AbsolutePath {
    /// Returns the path from the root, so that it means the same after chdir(2). It is not resolved.
    public static func of(_ path: FilePath) -> FilePath {
        guard !path.isAbsolute, let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return FilePath(cString: current).appending(path)
    }

    /// Returns the path from the root of one that is text.
    ///
    /// - Throws: `EILSEQ` if the current directory has a name that is not UTF-8.
    @_disfavoredOverload
    public static func of(_ path: String) throws(SystemError) -> String {
        let absolute = of(FilePath(path))
        guard let text = absolute.text else { throw SystemError("use", path: absolute, code: EILSEQ) }
        return text
    }
}
