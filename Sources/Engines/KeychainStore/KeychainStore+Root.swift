// SPDX-License-Identifier: Apache-2.0

public import Keybag
internal import KeychainModel
internal import SQLiteConnections

/// Moving the device key between a file, the TPM and a credential.
extension KeychainStore {
    /// Where the device key is.
    public var root: DeviceKey.Root { keybag.device.deviceKey.root }

    /// Moves the device key. The key is written to its new root and read back, then the keybag says
    /// so, then the old one is destroyed: after a crash at any point, the keybag says which one
    /// counts, and ``finishMove(in:)`` removes the other one.
    ///
    /// - Parameter registers: the registers whose values the TPM requires; nil for none.
    /// - Returns: false if it is there already.
    public func moveRoot(
        to root: DeviceKey.Root, _ registers: RegisterBinding? = nil, in storage: DeviceKeyStorage,
        passcode: Passcode?
    ) throws(StoreError) -> Bool {
        try requireWritable()
        let isMoved = try exclusively { () throws(StoreError) in
            let key = try verifyIfSet(passcode)
            let device = keybag.device
            guard device.deviceKey.root != root else {
                // The keybag stays the same; only the file is replaced.
                return try mapKeybagErrors { () throws(KeybagError) in
                    guard root == .tpm else { return false }
                    if registers == nil, try storage.registers().isEmpty { return false }
                    _ = try storage.write(device.deviceKey, to: root, registers: registers)
                    return true
                }
            }
            let (written, moved, changed) = try mapKeybagErrors { () throws(KeybagError) in
                let written = try storage.write(device.deviceKey, to: root, registers: registers)
                let moved = try device.movedKey(key, to: written)
                do throws(KeybagError) {
                    return (written, moved, try device.movingRoot(to: written, from: key, moved))
                } catch {
                    moved?.abandonTangle(written)
                    throw error
                }
            }
            try store(changed, moved, deviceKey: written)
            try removeRetired(moved)
            forgetOldKeys()
            return true
        }
        try finishMove(in: storage)
        return isMoved
    }

    /// Destroys a device key that the keybag does not use: what an interrupted move has left.
    public func finishMove(in storage: DeviceKeyStorage) throws(StoreError) {
        let others = DeviceKeyStorage.roots.filter { $0 != root }
        let isLeft = try mapKeybagErrors { () throws(KeybagError) in
            for other in others where try storage.has(other) { return true }
            return false
        }
        guard isLeft, !isReadOnly else { return }
        // Another process may be moving it just now: until it has finished, both are needed.
        try exclusively { () throws(StoreError) in
            let root = try refresh().deviceKey.root
            try mapKeybagErrors { () throws(KeybagError) in
                for other in DeviceKeyStorage.roots where other != root { try storage.remove(other) }
            }
        }
    }

    static func recordedRoot(_ database: Database) throws(StoreError) -> DeviceKey.Root? {
        (try? KeybagStorage.load(from: database))?.root
    }
}
