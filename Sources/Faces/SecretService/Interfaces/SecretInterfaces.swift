// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// The interfaces of the Secret Service (0.2), of gnome-keyring, and of every object.
enum SecretInterfaces {
    static let service = InterfaceDescription(
        "org.freedesktop.Secret.Service",
        methods: [
            .init(
                "OpenSession", [.init("algorithm", .string), .init("input", .variant)],
                returning: [.init("output", .variant), .init("result", .objectPath)]),
            .init(
                "CreateCollection", [.init("properties", .properties), .init("alias", .string)],
                returning: [.init("collection", .objectPath), .init("prompt", .objectPath)]),
            .init(
                "SearchItems", [.init("attributes", .texts)],
                returning: [.init("unlocked", .paths), .init("locked", .paths)]),
            .init(
                "Unlock", [.init("objects", .paths)],
                returning: [.init("unlocked", .paths), .init("prompt", .objectPath)]),
            .init(
                "Lock", [.init("objects", .paths)], returning: [.init("locked", .paths), .init("prompt", .objectPath)]),
            .init("LockService"),
            .init("ChangeLock", [.init("collection", .objectPath)], returning: [.init("prompt", .objectPath)]),
            .init(
                "GetSecrets", [.init("items", .paths), .init("session", .objectPath)],
                returning: [.init("secrets", .dictionary(key: .objectPath, value: .secret))]),
            .init("ReadAlias", [.init("name", .string)], returning: [.init("collection", .objectPath)]),
            .init("SetAlias", [.init("name", .string), .init("collection", .objectPath)]),
        ],
        signals: [
            .init("CollectionCreated", [.init("collection", .objectPath)]),
            .init("CollectionDeleted", [.init("collection", .objectPath)]),
            .init("CollectionChanged", [.init("collection", .objectPath)]),
        ],
        properties: [.init("Collections", .paths)])

    static let collection = InterfaceDescription(
        "org.freedesktop.Secret.Collection",
        methods: [
            .init("Delete", returning: [.init("prompt", .objectPath)]),
            .init("SearchItems", [.init("attributes", .texts)], returning: [.init("results", .paths)]),
            .init(
                "CreateItem",
                [.init("properties", .properties), .init("secret", .secret), .init("replace", .boolean)],
                returning: [.init("item", .objectPath), .init("prompt", .objectPath)]),
        ],
        signals: [
            .init("ItemCreated", [.init("item", .objectPath)]), .init("ItemDeleted", [.init("item", .objectPath)]),
            .init("ItemChanged", [.init("item", .objectPath)]),
        ],
        properties: [
            .init("Items", .paths, isAnnouncedWithoutValue: true), .init("Label", .string, isWritable: true),
            .init("Locked", .boolean), .init("Created", .uint64), .init("Modified", .uint64),
        ])

    static let item = InterfaceDescription(
        "org.freedesktop.Secret.Item",
        methods: [
            .init("Delete", returning: [.init("prompt", .objectPath)]),
            .init("GetSecret", [.init("session", .objectPath)], returning: [.init("secret", .secret)]),
            .init("SetSecret", [.init("secret", .secret)]),
        ],
        properties: [
            .init("Locked", .boolean), .init("Attributes", .texts, isWritable: true),
            .init("Label", .string, isWritable: true), .init("Type", .string, isWritable: true),
            .init("Created", .uint64), .init("Modified", .uint64),
        ])

    static let session = InterfaceDescription("org.freedesktop.Secret.Session", methods: [.init("Close")])

    static let prompt = InterfaceDescription(
        "org.freedesktop.Secret.Prompt", methods: [.init("Prompt", [.init("window", .string)]), .init("Dismiss")],
        signals: [.init("Completed", [.init("dismissed", .boolean), .init("result", .variant)])])

    /// gnome-keyring's calls with a passcode, for its tools.
    static let masterPassword = InterfaceDescription(
        "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
        methods: [
            .init(
                "CreateWithMasterPassword", [.init("attributes", .properties), .init("master", .secret)],
                returning: [.init("collection", .objectPath)]),
            .init("UnlockWithMasterPassword", [.init("collection", .objectPath), .init("master", .secret)]),
            .init(
                "ChangeWithMasterPassword",
                [.init("collection", .objectPath), .init("original", .secret), .init("master", .secret)]),
            .init("ChangeWithPrompt", [.init("collection", .objectPath)], returning: [.init("prompt", .objectPath)]),
        ])

    // MARK: Of every object

    static let introspectable = InterfaceDescription(
        "org.freedesktop.DBus.Introspectable",
        methods: [.init("Introspect", returning: [.init("data", .string)])])

    static let properties = InterfaceDescription(
        BusMethodCall.propertiesInterface,
        methods: [
            .init(
                "Get", [.init("interface", .string), .init("property", .string)], returning: [.init("value", .variant)]),
            .init("Set", [.init("interface", .string), .init("property", .string), .init("value", .variant)]),
            .init("GetAll", [.init("interface", .string)], returning: [.init("properties", .properties)]),
        ],
        signals: [
            .init(
                "PropertiesChanged",
                [
                    .init("interface", .string), .init("changed", .properties), .init("invalidated", .array(.string)),
                ])
        ])

    /// libsystemd answers its methods.
    static let peer = InterfaceDescription(
        "org.freedesktop.DBus.Peer",
        methods: [.init("Ping"), .init("GetMachineId", returning: [.init("identifier", .string)])])

    static let ofEveryObject = [introspectable, properties, peer]

    // MARK: Of the kinds of objects

    /// The interfaces of an object, beside those that every object has.
    static func own(of path: SecretPath) -> [InterfaceDescription] {
        switch path {
        case .service: [service, masterPassword]
        case .folder: []
        case .collection: [collection]
        case .item: [item]
        case .session: [session]
        case .prompt: [prompt]
        }
    }
}

extension BusType {
    /// `a{sv}`.
    static let properties = BusType.dictionary(key: .string, value: .variant)
    /// `a{ss}`.
    static let texts = BusType.dictionary(key: .string, value: .string)
    /// `ao`.
    static let paths = BusType.array(.objectPath)
    /// `(oayays)`: a session, its parameters, a value and the type of its content.
    static let secret = BusType.structure([.objectPath, .array(.byte), .array(.byte), .string])
}
