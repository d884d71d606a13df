// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Reading textual encodings of data that is not secret.
extension PEMText {
    /// A part of a text: a block, or text that may have been one.
    enum Part {
        /// A block with one of the wanted labels.
        case block(label: String, content: [UInt8])
        /// A wanted block, or any block or mark that is damaged.
        case damaged(CertificateError, isWanted: Bool)
        /// A block with an unknown label, or data outside of blocks.
        case unknown(CertificateError)
    }

    /// The parts of a text with the numbers of their lines, in the order of the lines. Blocks with
    /// labels that are known and not wanted are left out, and so is text between blocks.
    static func parts(in bytes: UnsafeRawBufferPointer, labels: [String]) -> [(line: Int, part: Part)] {
        let text = PEMBlocks(bytes)
        var parts: [(line: Int, part: Part)] = text.blocks.compactMap { block in
            part(block, bytes, labels).map { (block.line, $0) }
        }
        parts += text.strays.map { line, defect in
            let error = CertificateError(defect.rawValue)
            return (line, defect == .noBegin ? .damaged(error, isWanted: false) : .unknown(error))
        }
        return parts.sorted { $0.line < $1.line }
    }

    private static func part(_ block: PEMBlocks.Block, _ bytes: UnsafeRawBufferPointer, _ labels: [String]) -> Part? {
        let isWanted = labels.contains(block.label)
        if let defect = block.defect {
            return .damaged(CertificateError(defect.rawValue), isWanted: isWanted)
        }
        guard isWanted else {
            return PEMBlocks.isKnown(label: block.label)
                ? nil
                : .unknown(CertificateError("a PEM block with an unknown label was skipped: \(block.quotedLabel)"))
        }
        guard let content = Base64.bytes(bytes[block.content], skipsWhiteSpace: true) else {
            return .damaged(CertificateError("its content is not base64"), isWanted: true)
        }
        return .block(label: block.label, content: content)
    }
}
