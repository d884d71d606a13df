// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// Textual encodings (RFC 7468). Text before, between and after the blocks is skipped.
enum PEM {
    struct Block {
        let label: String
        /// The label in a sentence.
        let quotedLabel: String
        /// Whether lines such as `Proc-Type:` precede the content.
        let hasHeaders: Bool
        let content: SharedSecret
    }

    /// Returns the blocks of a text; nil if it has none.
    ///
    /// - Throws: errSecParam if a block is damaged, with its line.
    static func blocks(in bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [Block]? {
        guard !PEMBlocks.isDER(bytes) else { return nil }
        let text = PEMBlocks(bytes)
        if let (line, defect) = text.strays.first(where: { $0.defect == .noBegin }) { throw malformed(line, defect) }
        guard !text.isEmpty else { return nil }
        var blocks: [Block] = []
        for block in text.blocks {
            if let defect = block.defect { throw malformed(block.line, defect) }
            guard let content = decoded(UnsafeRawBufferPointer(rebasing: bytes[block.content])) else {
                throw .parameter("the PEM block of line \(block.line) is not base64")
            }
            blocks.append(
                Block(
                    label: block.label, quotedLabel: block.quotedLabel, hasHeaders: block.hasHeaders, content: content))
        }
        return blocks
    }

    /// Decodes base64 with white space between its characters.
    private static func decoded(_ text: UnsafeRawBufferPointer) -> SharedSecret? {
        let digits = SecretBuffer(count: max(1, text.count))
        return digits.withUnsafeMutableBytes { buffer in
            var count = 0
            for byte in text where byte != UInt8(ascii: " ") && !(0x09...0x0D ~= byte) {
                buffer[count] = byte
                count += 1
            }
            return Base64.decoded(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer).prefix(count)))
        }
    }

    private static func malformed(_ line: Int, _ defect: PEMBlocks.Defect) -> KeychainError {
        .parameter("the PEM block of line \(line) cannot be read: \(defect.rawValue)")
    }

    /// Encodes the content as a block.
    static func text(_ label: String, _ content: SharedSecret, lineLength: Int = 64) -> SharedSecret {
        let encoded = Base64.encoded(content)
        let (first, last) = ("-----BEGIN \(label)-----\n", "-----END \(label)-----\n")
        let lines = (encoded.count + lineLength - 1) / lineLength
        return SharedSecret(
            SecretBytes(count: first.utf8.count + encoded.count + lines + last.utf8.count) { buffer in
                var rest = buffer[...]
                func write(_ bytes: some Collection<UInt8>) {
                    UnsafeMutableRawBufferPointer(rebasing: rest.prefix(bytes.count)).copyBytes(from: bytes)
                    rest = rest.dropFirst(bytes.count)
                }
                write(first.utf8)
                encoded.withUnsafeBytes { encoded in
                    var left = encoded[...]
                    while !left.isEmpty {
                        write(left.prefix(lineLength))
                        write(CollectionOfOne(newline))
                        left = left.dropFirst(lineLength)
                    }
                }
                write(last.utf8)
            })
    }

    private static let newline = UInt8(ascii: "\n")
}
