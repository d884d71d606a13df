// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import TrustedPlatformModule

/// A device key that is sealed to PCRs, and once more to a code. Format:
/// Documentation/Formats/keychain-database.md, "Device key in a TPM".
struct BoundDeviceKey {
    let registers: RegisterSelection
    let byRegisters: TPMObject
    let byCode: TPMObject

    static let version: UInt8 = 2
    private static let mapLength = 3
    private static let lengthLength = 2

    init(registers: RegisterSelection, byRegisters: TPMObject, byCode: TPMObject) {
        (self.registers, self.byRegisters, self.byCode) = (registers, byRegisters, byCode)
    }

    /// The version, the PCRs as bits, the length of the first object, and both objects.
    var encoded: [UInt8] {
        let first = byRegisters.encoded
        return [Self.version] + registers.map + [UInt8(first.count >> 8), UInt8(first.count & 0xFF)] + first
            + byCode.encoded
    }

    /// - Throws: errSecDecode for bytes that ``encoded`` does not write.
    init(decoding bytes: [UInt8]) throws(KeychainError) {
        let header = 1 + Self.mapLength + Self.lengthLength
        guard bytes.first == Self.version, bytes.count > header else {
            throw KeychainError(.decode, "the sealed device key is damaged, or of an unsupported version")
        }
        let length = Int(bytes[header - 2]) << 8 | Int(bytes[header - 1])
        let objects = bytes.dropFirst(header)
        do throws(TPMError) {
            registers = try RegisterSelection(map: Array(bytes[1..<1 + Self.mapLength]))
            byRegisters = try TPMObject(decoding: Array(objects.prefix(length)))
            byCode = try TPMObject(decoding: Array(objects.dropFirst(length)))
        } catch {
            throw KeychainError(.decode, "the sealed device key is damaged: \(error)")
        }
    }
}

extension RegisterSelection {
    /// The numbers, as in the option of a command.
    var list: String { numbers.sorted().map(String.init).joined(separator: ",") }
}
