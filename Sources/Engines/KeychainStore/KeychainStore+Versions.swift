// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Keybag

extension KeychainStore {
    /// Reads which versions the tables and the keybag have, without the device key, and without a
    /// migration.
    ///
    /// - Returns: `keybag` is nil if the tables are newer than those of this program.
    /// - Throws: ``StoreError/notAKeychain(_:)``.
    package static func storedVersions(path: String) throws(StoreError) -> (tables: Int, keybag: Int?) {
        try prepareFile(path, mayCreate: false)
        let connections = ConnectionPool(path: path, maxBytes: nil)
        defer { connections.close() }
        return try connections.read { (database) throws(StoreError) -> (tables: Int, keybag: Int?) in
            do throws(StoreError) {
                try DatabaseSchema.verify(database)
            } catch {
                guard case .newerVersion(let found, _) = error else { throw error }
                return (found, nil)
            }
            return (try DatabaseSchema.storedVersion(database), try KeybagStorage.load(from: database).version)
        }
    }
}
