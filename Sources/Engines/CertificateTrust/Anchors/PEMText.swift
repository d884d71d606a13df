// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc

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
        var reader = BlockReader(labels: labels)
        let isContiguous: Void? = bytes.withContiguousStorageIfAvailable { buffer in
            var rest = UnsafeRawBufferPointer(buffer)
            while let start = rest.baseAddress, !rest.isEmpty {
                // A search of the C library: this is most of the work for a bundle of a whole system.
                let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count).map { UnsafeRawPointer($0) - start }
                reader.take(UnsafeRawBufferPointer(rebasing: rest.prefix(end ?? rest.count)))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end.map { $0 + 1 } ?? rest.count))
            }
        }
        if isContiguous == nil { for line in bytes.split(separator: UInt8(ascii: "\n")) { reader.take(line) } }
        return reader.finished
    }
}

/// Collects the blocks of a text, line by line.
private struct BlockReader {
    let labels: [String]
    private var blocks: [(String, [UInt8]?)] = []
    private var label: String?
    private var body: [UInt8] = []

    init(labels: [String]) { self.labels = labels }

    mutating func take(_ line: some BidirectionalCollection<UInt8>) {
        if line.first == UInt8(ascii: "-"), let mark = Mark(line) {
            switch mark {
            case .begin(let name):
                if let label { blocks.append((label, nil)) }
                label = labels.contains(name) ? name : nil
                body.removeAll(keepingCapacity: true)
            case .end(let name):
                if let label { blocks.append((label, name == label ? decoded() : nil)) }
                label = nil
            }
        } else if label != nil {
            body.append(contentsOf: line)
        }
    }

    /// All blocks, the one without an end included.
    var finished: [(label: String, content: [UInt8]?)] {
        (blocks + (label.map { [($0, nil)] } ?? [])).map { (label: $0, content: $1) }
    }

    private func decoded() -> [UInt8]? {
        Data(base64Encoded: Data(body), options: .ignoreUnknownCharacters).map { Array($0) }
    }

    private enum Mark {
        case begin(String)
        case end(String)

        init?(_ line: some BidirectionalCollection<UInt8>) {
            guard line.count <= 100 else { return nil }
            var text = line[...]
            while let last = text.last, last == 0x20 || (0x09...0x0D).contains(last) { text.removeLast() }
            guard text.suffix(5).elementsEqual(Self.dashes) else { return nil }
            if text.starts(with: Self.begin), text.count > 16 {
                self = .begin(String(decoding: text.dropFirst(11).dropLast(5), as: UTF8.self))
            } else if text.starts(with: Self.finish), text.count > 14 {
                self = .end(String(decoding: text.dropFirst(9).dropLast(5), as: UTF8.self))
            } else {
                return nil
            }
        }

        private static let dashes = Array("-----".utf8)
        private static let begin = Array("-----BEGIN ".utf8)
        private static let finish = Array("-----END ".utf8)
    }
}
