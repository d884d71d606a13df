// SPDX-License-Identifier: Apache-2.0

package import KeychainModel

extension WireKeyKind {
    package init(_ kind: KeyKind) {
        self.init()
        type = UInt32(kind.type.rawValue)
        // The service rejects sizes that are not supported.
        bits = UInt32(clamping: kind.bits)
    }

    package func decode() throws(WireError) -> KeyKind {
        try requireKnown(self)
        guard let type = KeyType(rawValue: Int64(type)) else { throw .malformed("unknown key type \(type)") }
        return KeyKind(type, bits: try number(bits, "the size of a key"))
    }
}
