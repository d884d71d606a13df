// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The bytes of a seal; Documentation/Formats/file-seal.md. Each seal has one form.
enum FileSealCoding {
    static let magic = Array("LKFISEAL".utf8)
    static let version: UInt8 = 1
    static let digestLength = 64
    /// An RSA signature with 16384 bits.
    static let maxSignatureLength = 2048
    static let maxLength = 4096

    static let notASeal = KeychainError(.decode, "the data is not the seal of a file")

    static func encode(_ seal: FileSeal) -> [UInt8] {
        fields(of: seal) + UInt16(seal.signature.count).bigEndianBytes + seal.signature
    }

    /// All fields before the signature.
    static func fields(of seal: FileSeal) -> [UInt8] {
        magic + [version] + text(seal.algorithm.rawValue) + text(seal.keyIdentifier) + seal.length.bigEndianBytes
            + seal.digest
    }

    private static func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

    static func decode(_ bytes: [UInt8]) throws(KeychainError) -> FileSeal {
        var reader = FieldReader(bytes)
        guard reader.array(magic.count) == magic, let found: UInt8 = reader.number() else { throw notASeal }
        guard found == version else {
            throw KeychainError(
                .unimplemented, "the seal has version \(found), expected \(version)", hint: "update Latchkey")
        }
        guard let name = text(&reader) else { throw notASeal }
        let algorithm = try FileSealAlgorithm(named: name)
        guard let keyIdentifier = text(&reader), !keyIdentifier.isEmpty, let length: UInt64 = reader.number(),
            let digest = reader.array(digestLength), let count: UInt16 = reader.number(), count <= maxSignatureLength,
            let signature = reader.array(Int(count)), reader.isAtEnd
        else { throw notASeal }
        return FileSeal(
            algorithm, keyIdentifier: keyIdentifier, length: length, digest: digest, signature: signature)
    }

    /// Reads a text after its length; nil if it is not complete, or not UTF-8.
    private static func text(_ reader: inout FieldReader<ArraySlice<UInt8>>) -> String? {
        reader.number(UInt8.self).flatMap { reader.bytes(Int($0)) }.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
