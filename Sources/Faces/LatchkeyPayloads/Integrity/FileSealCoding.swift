// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

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
        fields(of: seal) + bigEndian(seal.signature.count, 2) + seal.signature
    }

    /// All fields before the signature.
    static func fields(of seal: FileSeal) -> [UInt8] {
        magic + [version] + text(seal.algorithm.rawValue) + text(seal.keyIdentifier) + bigEndian(seal.length, 8)
            + seal.digest
    }

    private static func text(_ text: String) -> [UInt8] { bigEndian(text.utf8.count, 1) + Array(text.utf8) }

    private static func bigEndian(_ number: some FixedWidthInteger, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func decode(_ bytes: [UInt8]) throws(KeychainError) -> FileSeal {
        var reader = Reader(rest: bytes[...])
        guard try reader.bytes(magic.count) == magic else { throw notASeal }
        let found = try reader.number(1)
        guard found == version else {
            throw KeychainError(
                .unimplemented, "the seal has version \(found), expected \(version)", hint: "update Latchkey")
        }
        let algorithm = try FileSealAlgorithm(named: try reader.text())
        let keyIdentifier = try reader.text()
        let length = try reader.number(8)
        let digest = try reader.bytes(digestLength)
        let count = try reader.number(2)
        guard count <= maxSignatureLength else { throw notASeal }
        let signature = try reader.bytes(Int(count))
        guard reader.rest.isEmpty, !keyIdentifier.isEmpty else { throw notASeal }
        return FileSeal(
            algorithm, keyIdentifier: keyIdentifier, length: length, digest: digest, signature: signature)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func bytes(_ count: Int) throws(KeychainError) -> [UInt8] {
            guard rest.count >= count else { throw notASeal }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }

        mutating func number(_ count: Int) throws(KeychainError) -> UInt64 {
            try bytes(count).reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func text() throws(KeychainError) -> String {
            guard let text = String(validating: try bytes(Int(try number(1))), as: UTF8.self) else { throw notASeal }
            return text
        }
    }
}
