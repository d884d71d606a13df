// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxSystem

extension TemporaryDirectory {
    /// Runs an SQL statement with sqlite3 on the database of the keychain in this directory, as a
    /// foreign program would change or damage it.
    ///
    /// - Returns: the output of sqlite3.
    @discardableResult
    public func runSQL(_ statement: String) throws -> String {
        let result = try Executable.run("/usr/bin/sqlite3", ["\(path)/data/keychain.db", statement], home: path)
        guard result.status == 0 else { throw SystemError("run sqlite3: \(result.error)", path: path, code: EINVAL) }
        return result.output
    }
}
