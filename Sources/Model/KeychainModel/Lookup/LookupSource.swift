// SPDX-License-Identifier: Apache-2.0

/// The names of lookup attributes that correspond to one attribute of a password item. Both directions follow this
/// table, and no other code knows the names.
struct LookupSource: Sendable {
    let attribute: ItemAttribute
    /// The names in use; the first that an item has counts.
    let names: [String]
    /// The name in the map of an item that no client of the Secret Service has stored.
    let ownName: String
    /// Further names by which a search finds such an item.
    let aliases: [String]
    let form: Form

    /// How a value is written in a map.
    enum Form: Sendable {
        case text
        /// `https`, where the attribute has `htps`.
        case networkProtocol
        /// A decimal number.
        case port
    }

    static let schema = "xdg:schema"
    /// The schema of `genp` items, as gnome-keyring adds it to items without one.
    static let genericSchema = "org.freedesktop.Secret.Generic"
    /// The schema of `inet` items: libsecret's network schema.
    static let networkSchema = "org.gnome.keyring.NetworkPassword"

    static func schema(of itemClass: ItemClass) -> String {
        itemClass == .internetPassword ? networkSchema : genericSchema
    }

    /// The table of a class; empty for classes other than passwords.
    static func all(of itemClass: ItemClass) -> [LookupSource] {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate, .key, .identity: []
        }
    }

    private init(
        _ attribute: ItemAttribute, _ names: [String], as ownName: String, aliases: [String] = [], _ form: Form = .text
    ) {
        (self.attribute, self.names, self.ownName) = (attribute, names, ownName)
        (self.aliases, self.form) = (aliases, form)
    }

    private static let accounts = ["username", "user", "account", "login"]

    private static let genericPassword = [
        LookupSource(.service, ["service", "server", "domain", "host"], as: "service"),
        LookupSource(.account, accounts, as: "account", aliases: ["user", "username"]),
    ]

    private static let internetPassword = [
        LookupSource(.server, ["server", "host", "service"], as: "server"),
        LookupSource(.account, accounts, as: "user"),
        LookupSource(.securityDomain, ["domain"], as: "domain"),
        LookupSource(.protocol, ["protocol"], as: "protocol", .networkProtocol),
        LookupSource(.port, ["port"], as: "port", .port),
        LookupSource(.path, ["object"], as: "object"),
        LookupSource(.authenticationType, ["authtype"], as: "authtype"),
    ]
}

// MARK: Values

extension LookupSource {
    /// The text of an attribute in a map; nil for a value that has none, such as an empty one.
    func text(of value: AttributeValue?) -> String? {
        let text: String? =
            switch form {
            case .text: value?.text
            case .networkProtocol: value.flatMap(NetworkProtocol.name)
            case .port: value.flatMap(Self.portText)
            }
        guard let text, !text.isEmpty, LookupAttributes.isValid(value: text) else { return nil }
        return text
    }

    /// The attribute that a text stands for; nil for one that the attribute cannot hold.
    func value(of text: String) -> AttributeValue? {
        switch form {
        case .text: .string(text)
        case .networkProtocol: NetworkProtocol.code(text).map { .string($0) }
        case .port: UInt16(text).map { .number(Int64($0)) }
        }
    }

    private static func portText(_ value: AttributeValue) -> String? {
        guard case .number(let number) = value, let port = UInt16(exactly: number), port > 0 else { return nil }
        return String(port)
    }
}
