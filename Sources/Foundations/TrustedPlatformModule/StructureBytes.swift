// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import SecretMemory

/// The bytes of a structure `TPM2B_…` of tpm2-tss: a number of bytes (`UINT16`), and a buffer of a fixed length.
enum StructureBytes {
    /// - Throws: ``TPMError/invalidResponse(_:)`` if the number is greater than the buffer.
    static func read<Structure>(_ structure: Structure) throws(TPMError) -> [UInt8] {
        try withUnsafeBytes(of: structure) { (buffer) throws(TPMError) in Array(try content(buffer)) }
    }

    /// Copies a secret, and wipes the structure.
    static func takeSecret<Structure>(_ structure: UnsafeMutablePointer<Structure>) throws(TPMError) -> SecretBytes {
        defer { SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: structure, count: MemoryLayout<Structure>.size)) }
        return SecretBytes(
            copying: try content(UnsafeRawBufferPointer(start: structure, count: MemoryLayout<Structure>.size)))
    }

    /// Returns a structure with the bytes.
    ///
    /// - Throws: ``TPMError/invalidInput(_:)`` if they do not fit.
    static func make<Structure>(_ structure: Structure, _ bytes: [UInt8]) throws(TPMError) -> Structure {
        var structure = structure
        guard bytes.withUnsafeBytes({ copy($0, to: &structure) }) else { throw tooLong(bytes.count) }
        return structure
    }

    /// Writes the bytes to a structure. If they are secret, the caller wipes it.
    static func fill<Structure>(_ structure: inout Structure, _ bytes: UnsafeRawBufferPointer) throws(TPMError) {
        guard copy(bytes, to: &structure) else { throw tooLong(bytes.count) }
    }

    /// - Returns: whether the bytes fit.
    private static func copy<Structure>(_ bytes: UnsafeRawBufferPointer, to structure: inout Structure) -> Bool {
        guard let count = UInt16(exactly: bytes.count), bytes.count <= MemoryLayout<Structure>.size - lengthBytes else {
            return false
        }
        withUnsafeMutableBytes(of: &structure) { buffer in
            buffer.storeBytes(of: count, as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: buffer[lengthBytes...]).copyMemory(from: bytes)
        }
        return true
    }

    private static func tooLong(_ count: Int) -> TPMError { .invalidInput("\(count) bytes are too many for the TPM") }

    private static func content(_ buffer: UnsafeRawBufferPointer) throws(TPMError) -> UnsafeRawBufferPointer {
        let count = Int(buffer.loadUnaligned(as: UInt16.self))
        guard count <= buffer.count - lengthBytes else {
            throw .invalidResponse("a field has \(count) bytes, expected at most \(buffer.count - lengthBytes)")
        }
        return UnsafeRawBufferPointer(rebasing: buffer[lengthBytes..<lengthBytes + count])
    }

    private static let lengthBytes = 2
}

/// A structure on the stack that contains secrets, and is wiped at the end.
func withWiped<Structure, Result: ~Copyable>(
    _ structure: Structure, _ body: (inout Structure) throws(TPMError) -> Result
) throws(TPMError) -> Result {
    var structure = structure
    defer { withUnsafeMutableBytes(of: &structure) { SecretBytes.wipe($0) } }
    return try body(&structure)
}
