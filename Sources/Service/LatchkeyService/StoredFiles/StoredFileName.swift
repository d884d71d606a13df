// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The name of a stored file: the identifiers of its item and of its content, in hexadecimal digits.
struct StoredFileName: Hashable {
    let item: ItemIdentifier
    /// 16 bytes.
    let file: [UInt8]

    init(item: ItemIdentifier, file: [UInt8]) { (self.item, self.file) = (item, file) }

    /// - Returns: nil for a name that ``text`` does not return.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let item = Self.bytes(parts[0]).flatMap({ ItemIdentifier(bytes: $0) }),
            let file = Self.bytes(parts[1])
        else { return nil }
        self.init(item: item, file: file)
    }

    /// The bytes of both identifiers, 32, as a backup has them.
    var bytes: [UInt8] { item.bytes + file }

    /// - Returns: nil unless there are 32 bytes.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length, let item = ItemIdentifier(bytes: bytes.prefix(Self.length / 2)) else {
            return nil
        }
        self.init(item: item, file: Array(bytes.dropFirst(Self.length / 2)))
    }

    static let length = 32

    var text: String { "\(Self.text(item.bytes))-\(Self.text(file))" }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let values = text.utf8.compactMap { digits.firstIndex(of: $0) }
        guard values.count == digitCount, text.utf8.count == digitCount else { return nil }
        return stride(from: 0, to: digitCount, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// The digits of one identifier.
    private static let digitCount = 32
    private static let digits = Array("0123456789abcdef".utf8)
}
