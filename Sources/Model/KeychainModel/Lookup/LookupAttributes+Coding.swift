// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The encoding of lookup attributes in rows, backups and messages. Equal maps have equal encodings.
///
/// ```
/// for each entry, in order:  be16 length of the name ‖ name ‖ be16 length of the value ‖ value
/// ```
extension LookupAttributes {
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encodedLength)
        for entry in entries {
            for text in [entry.name, entry.value] {
                bytes.append(bigEndian: UInt16(clamping: text.utf8.count))
                bytes.append(contentsOf: text.utf8)
            }
        }
        return bytes
    }

    /// The length of ``encoded``, in bytes.
    public var encodedLength: Int {
        entries.reduce(0) { $0 + 4 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// Decodes the bytes that ``encoded`` returns; nil for every other sequence of bytes.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.maxLength else { return nil }
        var reader = FieldReader(bytes)
        var entries: [LookupEntry] = []
        while reader.remaining > 0 {
            guard entries.count < Self.maxCount, let name = Self.text(&reader), Self.isValid(name: name),
                let value = Self.text(&reader), Self.isValid(value: value)
            else { return nil }
            let entry = LookupEntry(name, value)
            if let last = entries.last, !last.precedes(entry) { return nil }
            entries.append(entry)
        }
        self.init(unchecked: entries)
    }

    private static func text(_ reader: inout FieldReader<ArraySlice<UInt8>>) -> String? {
        guard let length = reader.number(UInt16.self), let bytes = reader.bytes(Int(length)) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
