// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// Reads textual encodings (RFC 7468). Text before, between and after the blocks is skipped.
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
        let found = PEMBlocks(bytes)
        if let (line, defect) = found.strays.first(where: { $0.defect == .noBegin }) { throw malformed(line, defect) }
        guard !found.isEmpty else { return nil }
        var blocks: [Block] = []
        for block in found.blocks {
            if let defect = block.defect { throw malformed(block.line, defect) }
            let text = UnsafeRawBufferPointer(rebasing: bytes[block.content])
            guard let content = SharedSecret.ofBase64(text, skipsWhiteSpace: true) else {
                throw .parameter("the PEM block of line \(block.line) is not base64")
            }
            blocks.append(
                Block(
                    label: block.label, quotedLabel: block.quotedLabel, hasHeaders: block.hasHeaders, content: content))
        }
        return blocks
    }

    private static func malformed(_ line: Int, _ defect: PEMBlocks.Defect) -> KeychainError {
        .parameter("the PEM block of line \(line) cannot be read: \(defect.rawValue)")
    }
}
