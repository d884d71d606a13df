// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// Textual encodings (RFC 7468). Text before, between and after the blocks is skipped.
enum PEM {
    struct Block {
        let label: String
        /// Whether lines such as `Proc-Type:` precede the content.
        let hasHeaders: Bool
        let content: SharedSecret
    }

    /// Returns the blocks of a text; nil if no block begins in it.
    ///
    /// - Throws: errSecParam if a block has no end, or its content is not base64.
    static func blocks(in bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [Block]? {
        var lines = bytes.split(separator: newline, omittingEmptySubsequences: false).map { line in
            line.last == carriageReturn ? line.dropLast() : line
        }[...]
        var blocks: [Block] = []
        var hasBegun = false
        while let line = lines.popFirst() {
            guard let label = label(of: line, "-----BEGIN ") else { continue }
            hasBegun = true
            var body: [Slice<UnsafeRawBufferPointer>] = []
            var isEnded = false
            while let line = lines.popFirst() {
                if let end = self.label(of: line, "-----END ") {
                    guard end == label else { throw malformed }
                    isEnded = true
                    break
                }
                body.append(line)
            }
            guard isEnded else { throw malformed }
            blocks.append(try block(label, body))
        }
        return hasBegun ? blocks : nil
    }

    private static func block(_ label: String, _ lines: [Slice<UnsafeRawBufferPointer>]) throws(KeychainError) -> Block
    {
        let hasHeaders = lines.contains { $0.contains(UInt8(ascii: ":")) }
        let length = lines.reduce(0) { $0 + $1.count }
        let text = SecretBuffer(count: max(1, length))
        let count = text.withUnsafeMutableBytes { buffer in
            var count = 0
            // An empty line follows the headers.
            let body = hasHeaders ? Array(lines.drop { !$0.isEmpty }) : lines
            for line in body {
                for byte in line where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t") {
                    buffer[count] = byte
                    count += 1
                }
            }
            return count
        }
        let content = text.withUnsafeMutableBytes {
            Base64.decoded(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0).prefix(count)))
        }
        guard let content else { throw malformed }
        return Block(label: label, hasHeaders: hasHeaders, content: content)
    }

    private static func label(of line: Slice<UnsafeRawBufferPointer>, _ start: String) -> String? {
        // Content is secret: do not convert its lines to strings.
        guard line.starts(with: start.utf8) else { return nil }
        let text = line.count <= 100 ? String(decoding: line, as: UTF8.self) : ""
        guard text.hasPrefix(start) else { return nil }
        let rest = text.dropFirst(start.count)
        guard let end = rest.lastIndex(where: { $0 != "-" && $0 != " " }),
            rest[rest.index(after: end)...].hasPrefix("-----")
        else {
            return nil
        }
        return String(rest[...end])
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
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let malformed = KeychainError(.param, "a PEM block has no end, or its content is not base64")
}
