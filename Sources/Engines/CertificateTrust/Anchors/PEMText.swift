// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel

/// PEM blocks (RFC 7468) of data that is not secret.
public enum PEMText {
    /// The PEM block of some bytes under a label, in lines of 64 characters.
    public static func of(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    /// A part of a text: a block, or what may have been one.
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
        guard let content = decoded(bytes[block.content]) else {
            return .damaged(CertificateError("its content is not base64"), isWanted: true)
        }
        return .block(label: block.label, content: content)
    }

    /// Decodes base64 with white space, and nothing else.
    private static func decoded(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        Data(base64Encoded: Data(text.filter { $0 != 0x20 && !(0x09...0x0D ~= $0) })).map { Array($0) }
    }
}
