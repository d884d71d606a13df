// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem

/// An object of a TPM in its stored form: its public area, and its private area, encrypted by the TPM. Only the TPM
/// that made it can load it.
///
/// Format: Documentation/Formats/enclave-key.md.
public struct TPMObject: Hashable, Sendable {
    /// `TPM2B_PUBLIC`.
    let publicArea: [UInt8]
    /// `TPM2B_PRIVATE`.
    let privateArea: [UInt8]
    /// The name of the storage key.
    let parentName: [UInt8]

    /// An algorithm of 2 bytes, and a digest of SHA-256.
    static let nameLength = 34
    static let version: UInt8 = 1
    /// The longest encoding that is accepted.
    public static let maxLength = 2048

    init(publicArea: TPM2B_PUBLIC, privateArea: TPM2B_PRIVATE, parentName: [UInt8]) throws(TPMError) {
        var (publicArea, privateArea) = (publicArea, privateArea)
        self.publicArea = try Self.marshalled { buffer, count, offset in
            Tss2_MU_TPM2B_PUBLIC_Marshal(&publicArea, buffer, count, &offset)
        }
        self.privateArea = try Self.marshalled { buffer, count, offset in
            Tss2_MU_TPM2B_PRIVATE_Marshal(&privateArea, buffer, count, &offset)
        }
        self.parentName = parentName
    }

    /// The bytes to store.
    public var encoded: [UInt8] {
        [Self.version] + parentName + Self.counted(publicArea) + Self.counted(privateArea)
    }

    /// Reads stored bytes.
    ///
    /// - Throws: ``TPMError/damaged(_:)``, ``TPMError/newerVersion(found:known:)``.
    public init(decoding bytes: [UInt8]) throws(TPMError) {
        guard let version = bytes.first, bytes.count <= Self.maxLength else {
            throw .damaged("it has \(bytes.count) bytes, expected 1 to \(Self.maxLength)")
        }
        guard version <= Self.version else { throw .newerVersion(found: version, known: Self.version) }
        guard version > 0 else { throw .damaged("unsupported version 0") }
        var fields = FieldReader(bytes.dropFirst())
        guard let parentName = fields.array(Self.nameLength) else { throw .damaged("it is too short") }
        self.parentName = parentName
        publicArea = try Self.field(&fields)
        privateArea = try Self.field(&fields)
        guard fields.isAtEnd else { throw .damaged("unexpected bytes after the private area") }
        // The library accepts other lengths than those of the content; an object has one form.
        let (publicArea, privateArea) = (try publicStructure(), try privateStructure())
        let again = try TPMObject(publicArea: publicArea, privateArea: privateArea, parentName: parentName)
        guard again == self else { throw .damaged("the length of an area is wrong") }
    }

    // MARK: Structures

    func publicStructure() throws(TPMError) -> TPM2B_PUBLIC {
        var structure = TPM2B_PUBLIC()
        try Self.unmarshalled(publicArea, "public area") { buffer, count, offset in
            Tss2_MU_TPM2B_PUBLIC_Unmarshal(buffer, count, &offset, &structure)
        }
        return structure
    }

    func privateStructure() throws(TPMError) -> TPM2B_PRIVATE {
        var structure = TPM2B_PRIVATE()
        try Self.unmarshalled(privateArea, "private area") { buffer, count, offset in
            Tss2_MU_TPM2B_PRIVATE_Unmarshal(buffer, count, &offset, &structure)
        }
        return structure
    }

    private static func marshalled(
        _ function: (UnsafeMutablePointer<UInt8>?, Int, inout Int) -> TSS2_RC
    ) throws(TPMError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: maxLength)
        var offset = 0
        let code = buffer.withUnsafeMutableBufferPointer { function($0.baseAddress, $0.count, &offset) }
        guard code == 0, offset <= buffer.count else { throw .invalidResponse("an area cannot be written") }
        return Array(buffer.prefix(offset))
    }

    /// Reads a structure. It must use all bytes.
    private static func unmarshalled(
        _ bytes: [UInt8], _ name: String, _ function: (UnsafePointer<UInt8>?, Int, inout Int) -> TSS2_RC
    ) throws(TPMError) {
        try Library.load()
        var offset = 0
        let code = bytes.withUnsafeBufferPointer { function($0.baseAddress, $0.count, &offset) }
        guard code == 0, offset == bytes.count else { throw .damaged("its \(name) is not valid") }
    }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] {
        UInt16(truncatingIfNeeded: bytes.count).bigEndianBytes + bytes
    }

    private static func field(_ fields: inout FieldReader<ArraySlice<UInt8>>) throws(TPMError) -> [UInt8] {
        guard let count: UInt16 = fields.number(), let bytes = fields.array(Int(count)) else {
            throw .damaged("it is too short")
        }
        return bytes
    }
}

extension TPMObject {
    /// The areas as tpm2-tools read them: `TPM2B_PUBLIC` and `TPM2B_PRIVATE`.
    public var areas: (publicArea: [UInt8], privateArea: [UInt8]) { (publicArea, privateArea) }
}
