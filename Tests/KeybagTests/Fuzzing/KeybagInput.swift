// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
import LinuxSystem
import SecretMemory

/// A record that a program with write access to the database has stored. The first byte selects its kind: the
/// constraint of a row, or the keybag. The fuzzer and the test that replays its corpus share it.
enum KeybagInput {
    /// Decodes the record.
    ///
    /// - Returns: whether the record was decoded, and the fault that was found; nil for none.
    static func decode(_ bytes: [UInt8]) throws -> (isDecoded: Bool, fault: String?) {
        guard let choice = bytes.first else { return (false, nil) }
        let rest = Array(bytes.dropFirst())
        return choice.isMultiple(of: 2) ? try constraint(rest) : keybag(rest)
    }

    private static func constraint(_ bytes: [UInt8]) throws -> (Bool, String?) {
        guard let record = try? ConstraintRecord(decoding: bytes) else { return (false, nil) }
        guard record.encoded == bytes, bytes.starts(with: record.fixedPart) else {
            return (true, "a constraint has two encodings")
        }
        guard let keychain else { return (true, "the keychain could not be created") }
        let item = Array(repeating: UInt8(1), count: 16)
        guard (try? keychain.constraintKeys().key(of: EncodedConstraint(record), item: item)) == nil else {
            return (true, "a constraint yields a key without any proof")
        }
        let terms = record.constraints.terms
        guard keychain.device.canSatisfy(record) == terms.isEmpty else {
            return (true, "a keychain without pairs satisfies a constraint")
        }
        // The password is wrong or its derivation is pending: nothing is derived here.
        let keys = keychain.constraintKeys()
        keys.setApplicationPassword(try ApplicationPassword(SharedSecret(copying: "a".utf8)))
        guard (try? keys.key(of: EncodedConstraint(record), item: item)) == nil else {
            return (true, "a constraint yields a key without a derivation")
        }
        return (true, nil)
    }

    private static func keybag(_ bytes: [UInt8]) -> (Bool, String?) {
        guard let record = try? KeybagRecord(decoding: bytes) else { return (false, nil) }
        let encoded = record.encoded
        guard record.storedVersion < KeybagRecord.commonVersion || encoded == bytes else {
            return (true, "a keybag has two encodings")
        }
        guard let again = try? KeybagRecord(decoding: encoded), again.encoded == encoded else {
            return (true, "a keybag does not decode as it was written")
        }
        guard record.passcode != nil || record.presenceGeneration == nil,
            record.pairs.count(where: \.identity.kind.isSecurityKey) <= SecurityKeyInfo.maxCount
        else { return (true, "a keybag has pairs that it must not have") }
        _ = try? record.successor()
        _ = try? record.nextGeneration()
        return (true, nil)
    }

    /// A keychain without a passcode.
    private static let keychain: LockableKeybag? = {
        let key = DeviceKey.ephemeral()
        guard let stored = try? DeviceKeybag.create(deviceKey: key),
            let device = try? DeviceKeybag(opening: stored, deviceKey: key)
        else { return nil }
        return LockableKeybag(device, clock: .system)
    }()
}
