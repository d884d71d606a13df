// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

extension ItemAddition {
    /// An item that a client of the Secret Service stores. Its class follows from its attributes.
    ///
    /// - Parameters:
    ///   - label: the name shown to the user.
    ///   - replaces: whether an item with exactly these attributes is changed instead.
    public init(
        _ lookupAttributes: LookupAttributes, label: String, data: SharedSecret, contentType: ContentType?,
        replaces: Bool, accessGroup: String? = nil
    ) {
        self.init(
            lookupAttributes.itemClass, attributes: [.label: .string(label)], secrets: ItemSecrets(data: data),
            accessGroup: accessGroup)
        self.lookupAttributes = lookupAttributes
        self.contentType = contentType
        self.replaces = replaces
    }
}
