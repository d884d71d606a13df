// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// PEM blocks (RFC 7468) of data that is not secret.
public enum PEMText {
    /// The PEM block of some bytes under a label, in lines of 64 characters.
    public static func of(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    /// The contents of the blocks with one of these labels, in file order; nil for a block without
    /// an end or in invalid base64. Text between blocks is ignored.
    static func blocks(in bytes: some RandomAccessCollection<UInt8>, labels: [String]) -> [(
        label: String, content: [UInt8]?
    )] {
        var blocks: [(String, [UInt8]?)] = []
        var label: String?
        var body = Data()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "-"), let mark = Mark(line) {
                switch mark {
                case .begin(let name):
                    if let label { blocks.append((label, nil)) }
                    label = labels.contains(name) ? name : nil
                    body.removeAll(keepingCapacity: true)
                case .end(let name):
                    if let label { blocks.append((label, name == label ? decoded(body) : nil)) }
                    label = nil
                }
            } else if label != nil {
                body.append(contentsOf: line)
            }
        }
        if let label { blocks.append((label, nil)) }
        return blocks
    }

    private static func decoded(_ base64: Data) -> [UInt8]? {
        Data(base64Encoded: base64, options: .ignoreUnknownCharacters).map { Array($0) }
    }

    private enum Mark {
        case begin(String)
        case end(String)

        init?(_ line: some Collection<UInt8>) {
            guard line.count <= 100 else { return nil }
            var text = String(decoding: line, as: UTF8.self)[...]
            while let last = text.last, last.isWhitespace { text.removeLast() }
            guard text.hasSuffix("-----") else { return nil }
            if text.hasPrefix("-----BEGIN "), text.count > 16 {
                self = .begin(String(text.dropFirst(11).dropLast(5)))
            } else if text.hasPrefix("-----END "), text.count > 14 {
                self = .end(String(text.dropFirst(9).dropLast(5)))
            } else {
                return nil
            }
        }
    }
}
