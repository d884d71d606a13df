// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// The counter of a keybag in hardware, and the value that belongs to this record. An older copy of
/// the record has a lower value than the hardware.
///
/// A change of the keybag is stored with the next value, and then the hardware counts: if that was
/// interrupted, the record is one ahead, and the next program that opens the keychain counts.
struct RollbackCounter: Hashable, Sendable {
    var index: HardwareIndex
    var value: UInt64

    /// How the value in the hardware relates to the record's.
    enum Relation: Equatable {
        case equal
        /// The hardware must still count.
        case oneBehind
        /// The record is an older copy; or the hardware's value is older, if the hardware forgets.
        case differs(hardware: UInt64)
    }

    func relation(toHardware found: UInt64) -> Relation {
        if found == value { return .equal }
        return found < value && value - found == 1 ? .oneBehind : .differs(hardware: found)
    }

    static func authorization(_ deviceKey: DeviceKey, keychain: [UInt8]) -> SharedSecret {
        SharedSecret(
            KeybagCryptography.derive(
                from: deviceKey.secret, label: "latchkey v4 counter authorization", context: keychain))
    }
}

extension KeybagRecord {
    /// Gives the record of a recovery a counter: the present one goes on, also if the record is an
    /// older copy, because the recovery key is the owner's word.
    mutating func recoverCounter(_ deviceKey: DeviceKey) throws(KeybagError) {
        guard let known = counter else { return }
        let hardware = try deviceKey.requireHardware()
        let authorization = RollbackCounter.authorization(deviceKey, keychain: keychain)
        do throws(KeychainError) {
            counter?.value = try hardware.value(of: known.index, authorization: authorization) + 1
        } catch {
            // It is gone, or another one.
            retire(known.index)
            do throws(KeychainError) {
                let fresh = try hardware.createCounter(authorization: authorization)
                counter = RollbackCounter(index: fresh.index, value: fresh.value)
            } catch {
                throw .hardware(error)
            }
        }
    }
}

extension DeviceKeybag {
    /// The value of the record's counter; nil if the keychain has none.
    package var counterValue: UInt64? { record.counter?.value }

    /// Whether the counter in the hardware still has to count to the record's value.
    ///
    /// - Throws: ``KeybagError/rolledBack(found:expected:)`` if the record is an older copy,
    ///   ``KeybagError/hardware(_:)``.
    package func isAheadOfCounter() throws(KeybagError) -> Bool {
        guard let counter = record.counter else { return false }
        let found = try hardware { (hardware, authorization) throws(KeychainError) in
            try hardware.value(of: counter.index, authorization: authorization)
        }
        switch counter.relation(toHardware: found) {
        case .equal: return false
        case .oneBehind: return true
        case .differs(let found): throw .rolledBack(found: counter.value, expected: found)
        }
    }

    /// Makes the counter in the hardware count to the record's value, if it is one behind. Call it
    /// only while no other process changes the keybag.
    package func advanceCounter() throws(KeybagError) {
        guard let counter = record.counter, try isAheadOfCounter() else { return }
        let found = try hardware { (hardware, authorization) throws(KeychainError) in
            try hardware.increment(counter.index, authorization: authorization)
        }
        guard found == counter.value else { throw .rolledBack(found: counter.value, expected: found) }
    }

    private func hardware<Result>(
        _ body: (any HardwareRoot, SharedSecret) throws(KeychainError) -> Result
    ) throws(KeybagError) -> Result {
        let hardware = try deviceKey.requireHardware()
        do throws(KeychainError) {
            return try body(hardware, RollbackCounter.authorization(deviceKey, keychain: record.keychain))
        } catch {
            throw .hardware(error)
        }
    }
}
