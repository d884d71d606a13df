// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import TrustedPlatformModule

/// A device key that is sealed to PCRs, and once more to a code. Format:
/// Documentation/Formats/keychain-database.md, "Device key in a TPM".
struct BoundDeviceKey {
    let registers: RegisterSelection
    let byRegisters: TPMObject
    let byCode: TPMObject

    static let version: UInt8 = 2
    private static let mapLength = 3

    init(registers: RegisterSelection, byRegisters: TPMObject, byCode: TPMObject) {
        (self.registers, self.byRegisters, self.byCode) = (registers, byRegisters, byCode)
    }

    /// The version, the PCRs as bits, the length of the first object, and both objects.
    var encoded: [UInt8] {
        let first = byRegisters.encoded
        return [Self.version] + registers.map + UInt16(first.count).bigEndianBytes + first
            + byCode.encoded
    }

    /// - Throws: errSecDecode for bytes that ``encoded`` does not write.
    init(decoding bytes: [UInt8]) throws(KeychainError) {
        var fields = FieldReader(bytes)
        guard fields.number() == Self.version, let map = fields.array(Self.mapLength),
            let length: UInt16 = fields.number(), !fields.isAtEnd
        else { throw KeychainError(.decode, "the sealed device key is damaged, or of an unsupported version") }
        do throws(TPMError) {
            registers = try RegisterSelection(map: map)
            byRegisters = try TPMObject(decoding: Array(fields.rest.prefix(Int(length))))
            byCode = try TPMObject(decoding: Array(fields.rest.dropFirst(Int(length))))
        } catch {
            throw KeychainError(.decode, "the sealed device key is damaged: \(error)")
        }
    }
}

extension RegisterSelection {
    /// The numbers, as in the option of a command.
    var list: String { numbers.sorted().map(String.init).joined(separator: ",") }
}
