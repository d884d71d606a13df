// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// A collection of the Secret Service in a keychain. Dates are seconds since 2001-01-01 00:00:00 UTC.
public struct KeychainCollection: Hashable, Sendable {
    public let name: CollectionName
    /// The text that the user sees; the name if it is not known, because the record of the collection is
    /// locked.
    public let label: String
    /// nil if it is not known: `login` was never created.
    public let created: Double?
    /// When the label was last changed; nil if it is not known.
    public let modified: Double?

    init(_ name: CollectionName, label: String, created: Double? = nil, modified: Double? = nil) {
        (self.name, self.label) = (name, label)
        (self.created, self.modified) = (created, modified)
    }

    /// The collection of a program, with the name of its executable.
    package init(ofProgram name: CollectionName) {
        self.init(name, label: name.accessGroup.programName ?? name.text)
    }

    /// Reads a record; nil for an item that is not one.
    init?(_ record: ItemRecord) {
        guard let name = record[.account]?.text.flatMap({ CollectionName($0) }) else { return nil }
        self.init(name, label: record[.label]?.text ?? name.text, created: record.created, modified: record.modified)
    }

    /// The maximum length of a label of a collection or of an item in it, in bytes of UTF-8.
    public static let maxLabelLength = 4096

    /// Throws errSecDataTooLarge for a label of more than ``maxLabelLength`` bytes.
    public static func checkLabel(_ label: String) throws(KeychainError) {
        let length = label.utf8.count
        guard length <= maxLabelLength else {
            throw KeychainError(.dataTooLarge, "the label has \(length) bytes, the maximum is \(maxLabelLength)")
        }
    }

    /// The label of ``CollectionName/login`` until it gets another one.
    static let loginLabel = "Login"
}
