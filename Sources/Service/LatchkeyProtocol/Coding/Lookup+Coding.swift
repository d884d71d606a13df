// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel

extension LookupAttributes {
    init(wire bytes: Data) throws(WireError) {
        guard let attributes = LookupAttributes(decoding: Array(bytes)) else {
            throw .malformed("lookup attributes are malformed")
        }
        self = attributes
    }
}

extension ContentType {
    init(wire text: String) throws(WireError) {
        guard let type = ContentType(text) else { throw .malformed("a content type is malformed") }
        self = type
    }
}

extension WireLockedItem {
    package init(_ item: LockedItem) {
        self.init()
        reference = Data(item.reference.bytes)
        accessGroup = item.accessGroup.name
        grade = UInt32(item.accessGroup.grade.rawValue)
    }

    package func decode() throws(WireError) -> LockedItem {
        try requireKnown(self)
        try WireNames.check(accessGroup)
        return LockedItem(
            try PersistentReference(wire: reference),
            AccessGroup(accessGroup, grade: try AccessGroup.Grade(wire: grade)))
    }
}
