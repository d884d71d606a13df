// SPDX-License-Identifier: Apache-2.0

/// The fields of the record about hardware, since version 4.
extension KeybagRecord {
    func writeHardware(to writer: inout KeybagWriter) {
        writer.put(bytes: counter?.index.bytes ?? [])
        writer.put(counter?.value ?? 0)
        writer.put(UInt8(retired.count))
        for index in retired { writer.put(bytes: index.bytes) }
    }

    mutating func readHardware(from reader: inout KeybagReader) throws(KeybagError) {
        let bytes = try reader.bytes("counter", counts: 0...HardwareIndex.length)
        let value: UInt64 = try reader.number("value of the counter")
        if let index = HardwareIndex(bytes) {
            counter = RollbackCounter(index: index, value: value)
        } else {
            guard bytes.isEmpty, value == 0 else { throw .damaged("its counter has \(bytes.count) bytes") }
            counter = nil
        }
        let count: UInt8 = try reader.number("number of retired indices")
        guard count <= Self.maxRetired else {
            throw .damaged("it has \(count) retired indices, expected at most \(Self.maxRetired)")
        }
        retired = []
        for _ in 0..<count {
            let bytes = try reader.bytes("retired index", counts: HardwareIndex.length...HardwareIndex.length)
            guard let index = HardwareIndex(bytes) else { throw .damaged("a retired index is too short") }
            retired.append(index)
        }
    }

    static func tangle(_ reader: inout KeybagReader, _ version: UInt16) throws(KeybagError) -> PINSecret? {
        let bytes = try reader.bytes("tangle", counts: 0...HardwareIndex.length + PINSecret.maxObjectLength)
        if bytes.isEmpty { return nil }
        guard version >= 4, let sealed = PINSecret(bytes) else {
            throw .damaged("the tangle has \(bytes.count) bytes, but version \(version) does not allow this")
        }
        return sealed
    }

    /// Replaces the sealed tangle, and has the hardware forget the former one.
    mutating func replaceTangle(by sealed: PINSecret?) {
        guard sealed != sealedTangle else { return }
        if let sealedTangle { retire(sealedTangle.index) }
        sealedTangle = sealed
    }

    mutating func retire(_ index: HardwareIndex) {
        // More can only be there if the hardware has been gone for long.
        retired = Array((retired + [index]).suffix(Self.maxRetired))
    }
}

/// Leaving behind nothing in the hardware.
extension DeviceKeybag {
    /// Has the hardware remove the data of earlier records; returns false if there was none, or it could not be removed
    /// now.
    package func removeRetired() -> Bool {
        guard !record.retired.isEmpty, let hardware = deviceKey.hardware else { return false }
        return record.retired.allSatisfy { (try? hardware.remove($0)) != nil }
    }

    /// Has the hardware remove the data that this unstored keybag does not share with another.
    package func abandonHardware(keeping kept: DeviceKeybag) {
        let indices = [record.sealedTangle?.index, record.counter?.index]
        for case let index? in indices
        where index != kept.record.sealedTangle?.index && index != kept.record.counter?.index {
            try? deviceKey.hardware?.remove(index)
        }
    }

    /// Returns the record without the list of data to remove.
    package func forgettingRetired(_ passcode: PasscodeKey?) throws(KeybagError) -> StoredKeybag {
        var changed = try record.successor()
        changed.retired = []
        return sealed(changed, keyEncryptionKey(passcode))
    }
}
