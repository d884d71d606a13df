// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem

/// Platform configuration registers (PCRs) of the SHA-256 bank. Firmware and boot loader record in them the software
/// that they have started.
public struct RegisterSelection: Hashable, Sendable {
    /// The numbers of the registers, 0 to 23.
    public let numbers: Set<UInt8>

    /// - Parameter numbers: 1 to 8 numbers from 0 to 23.
    /// - Throws: ``TPMError/invalidInput(_:)``.
    public init(_ numbers: Set<UInt8>) throws(TPMError) {
        guard 1...8 ~= numbers.count, numbers.allSatisfy({ $0 < Self.count }) else {
            throw .invalidInput("expected 1 to 8 PCRs from 0 to \(Self.count - 1)")
        }
        self.numbers = numbers
    }

    static let count: UInt8 = 24

    /// `TPML_PCR_SELECTION`.
    var structure: TPML_PCR_SELECTION {
        var bank = TPMS_PCR_SELECTION()
        bank.hash = TPMI_ALG_HASH(TPM2_ALG_SHA256)
        bank.sizeofSelect = UInt8(map.count)
        withUnsafeMutableBytes(of: &bank.pcrSelect) { $0.copyBytes(from: map) }
        var list = TPML_PCR_SELECTION()
        list.count = 1
        withUnsafeMutableBytes(of: &list.pcrSelections) { $0.storeBytes(of: bank, as: TPMS_PCR_SELECTION.self) }
        return list
    }

    /// The bytes of ``structure`` in a command.
    var encoded: [UInt8] {
        UInt32(1).bigEndianBytes + UInt16(TPM2_ALG_SHA256).bigEndianBytes + [UInt8(map.count)] + map
    }

    /// - Parameter map: 3 bytes with the numbers as bits, the lowest first.
    /// - Throws: ``TPMError/invalidInput(_:)``.
    public init(map: [UInt8]) throws(TPMError) {
        guard map.count == Self.count / 8 else {
            throw .invalidInput("the bits of the PCRs have \(map.count) bytes, expected \(Self.count / 8)")
        }
        var numbers: Set<UInt8> = []
        for (index, byte) in map.enumerated() {
            for bit in 0..<8 where byte >> bit & 1 == 1 { numbers.insert(UInt8(index * 8 + bit)) }
        }
        try self.init(numbers)
    }

    /// The numbers as bits, the lowest first: 3 bytes.
    public var map: [UInt8] {
        var map: [UInt8] = [0, 0, 0]
        for number in numbers { map[Int(number / 8)] |= 1 << (number % 8) }
        return map
    }
}
