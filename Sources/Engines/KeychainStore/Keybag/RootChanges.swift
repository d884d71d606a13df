// SPDX-License-Identifier: Apache-2.0

public import Keybag
internal import KeychainModel

/// The device key of a keychain: moving it between a file, the TPM and a credential.
public struct RootChanges {
    let store: KeychainStore
    private var changes: KeybagChanges { KeybagChanges(store: store) }

    /// Moves the device key. The key is written to its new root and read back, then the keybag states the new root,
    /// then the old key is destroyed. After a crash at any point, the keybag states the valid root, and
    /// ``finishMove(in:)`` removes the other key.
    ///
    /// - Parameter registers: the registers with values that the TPM requires; nil for none.
    /// - Returns: false if it is there already.
    public func move(
        to root: DeviceKey.Root, _ registers: RegisterBinding? = nil, in storage: DeviceKeyStorage,
        passcode: Passcode?
    ) throws(StoreError) -> Bool {
        try store.requireWritable()
        let isMoved = try store.exclusively { () throws(StoreError) in
            let key = try changes.verifyIfSet(passcode)
            let device = store.keybag.device
            guard device.deviceKey.root != root else {
                // The keybag stays the same; only the file is replaced.
                return try store.mapKeybagErrors { () throws(KeybagError) in
                    guard root == .tpm else { return false }
                    if registers == nil, try storage.registers().isEmpty { return false }
                    _ = try storage.write(device.deviceKey, to: root, registers: registers)
                    return true
                }
            }
            let (written, moved, changed) = try store.mapKeybagErrors { () throws(KeybagError) in
                let written = try storage.write(device.deviceKey, to: root, registers: registers)
                let moved = try device.movedKey(key, to: written)
                do throws(KeybagError) {
                    return (written, moved, try device.movingRoot(to: written, from: key, moved))
                } catch {
                    moved?.abandonTangle(written)
                    throw error
                }
            }
            try changes.save(changed, moved, deviceKey: written)
            try changes.removeRetired(moved)
            store.forgetOldKeys()
            return true
        }
        try finishMove(in: storage)
        return isMoved
    }

    /// Destroys a device key that the keybag does not use, as an interrupted move leaves it.
    public func finishMove(in storage: DeviceKeyStorage) throws(StoreError) {
        let others = DeviceKeyStorage.roots.filter { $0 != store.root }
        let isLeft = try store.mapKeybagErrors { () throws(KeybagError) in
            for other in others where try storage.has(other) { return true }
            return false
        }
        guard isLeft, !store.isReadOnly else { return }
        // Another process may be moving it just now: until it has finished, both are needed.
        try store.exclusively { () throws(StoreError) in
            let root = try store.refresh().deviceKey.root
            try store.mapKeybagErrors { () throws(KeybagError) in
                for other in DeviceKeyStorage.roots where other != root { try storage.remove(other) }
            }
        }
    }
}
