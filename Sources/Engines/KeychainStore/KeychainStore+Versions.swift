// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import SQLiteConnections

extension KeychainStore {
    /// Reads the versions of the tables and the keybag, without the device key, and without a migration. No file is
    /// changed, and a lock of another process is not waited for.
    ///
    /// - Returns: `keybag` is nil if the tables are newer than those of this program.
    /// - Throws: ``StoreError/notAKeychain(_:)``, ``StoreError/inUse``.
    package static func storedVersions(path: String) throws(StoreError) -> (tables: Int, keybag: Int?) {
        try prepareFile(path, mayCreate: false)
        let connections = ConnectionPool(ReadOnlyDatabase(path: path, isInspected: true))
        defer { connections.close() }
        for _ in 1..<maxReads {
            do throws(StoreError) {
                return try versions(connections)
            } catch {
                guard case .changedDuringRead = error else { throw error }
            }
        }
        return try versions(connections)
    }

    private static func versions(_ connections: ConnectionPool) throws(StoreError) -> (tables: Int, keybag: Int?) {
        try connections.read { (database) throws(StoreError) -> (tables: Int, keybag: Int?) in
            guard try !DatabaseSchema.isEmpty(database) else { throw .notAKeychain("it is empty") }
            do throws(StoreError) {
                try DatabaseSchema.verify(database)
            } catch {
                guard case .newerVersion(let found, _) = error else { throw error }
                return (found, nil)
            }
            return (try DatabaseSchema.storedVersion(database), try KeybagStorage.load(from: database).version)
        }
    }

    private static let maxReads = 5
}
