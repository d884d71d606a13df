// SPDX-License-Identifier: Apache-2.0

internal import Keybag

/// Recognizing an older copy of the keychain by the counter in the hardware.
extension KeychainStore {
    /// Compares the keybag with the counter, and completes a change that was interrupted before the
    /// hardware has counted.
    ///
    /// An inspection only compares.
    ///
    /// - Returns: the keybag. Another process may have changed it meanwhile.
    /// - Throws: ``KeybagError/rolledBack(found:expected:)``.
    static func checkCounter(
        _ keybag: DeviceKeybag, in connections: ConnectionPool, _ attempts: PasscodeAttempts
    ) throws(StoreError) -> DeviceKeybag {
        if connections.isInspected {
            do throws(KeybagError) {
                _ = try keybag.isAheadOfCounter()
            } catch {
                throw .keybag(error)
            }
            return keybag
        }
        if (try? keybag.isAheadOfCounter()) == false { return keybag }
        // Another process may change it just now: only under its lock do both belong together.
        return try attempts.exclusively(onSystemError: StoreError.keybag) { () throws(StoreError) in
            let current = try connections.read { (database) throws(StoreError) in
                try openKeybag(in: database, deviceKey: keybag.deviceKey, adoptsRoot: true)
            }
            do throws(KeybagError) {
                try current.advanceCounter()
            } catch {
                throw .keybag(error)
            }
            return current
        }
    }
}
