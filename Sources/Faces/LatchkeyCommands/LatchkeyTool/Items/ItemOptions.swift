// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The classes of passwords.
enum PasswordClass: String, CaseIterable, Sendable {
    case generic, internet

    var itemClass: ItemClass { self == .internet ? .internetPassword : .genericPassword }
}

/// The options that select passwords, beside their name.
struct ItemOptions: Sendable {
    static let options = [
        CommandOption("--service", .required("service"), help: "The service, if it is not in the name."),
        CommandOption("--account", .required("account"), help: "The account, if it is not in the name."),
        CommandOption(
            "--class", value: .required("class"), completion: .words(PasswordClass.allCases.map(\.rawValue)),
            help: "The class of the item."),
        CommandOption(
            "--server", .required("server"), help: "The server of an internet password with the name SERVER/ACCOUNT."),
        CommandOption(
            "--protocol", .required("protocol"),
            help: "The protocol of an internet password: https, or four characters."),
        CommandOption("--port", .required("port"), help: "The port of an internet password."),
        CommandOption(
            "--path", value: .required("path"), completion: .nothing, help: "The path of an internet password."),
        CommandOption(
            "--access-group", or: "--group", value: .required("group"),
            help: "The access group; that of this command is latchkey.shared."),
    ]

    private let service: String?
    private let account: String?
    private let passwordClass: PasswordClass?
    private let server: String?
    /// Of four characters.
    private let networkProtocol: String?
    private let port: UInt16?
    private let path: String?
    let accessGroup: String?

    /// - Throws: a usage failure for a value that is not valid, and for options that belong to different classes.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        service = try arguments.text("--service")
        account = try arguments.text("--account")
        passwordClass = try arguments.choice("--class")
        server = try arguments.text("--server")
        let name = try arguments.text("--protocol")
        networkProtocol = name.flatMap(Self.code)
        port = try arguments.number("--port", 0...UInt16.max)
        path = try arguments.text("--path")
        accessGroup = try arguments.text("--access-group")
        guard (name == nil) == (networkProtocol == nil) else {
            throw .usage("--protocol must be https, imaps, ldaps or a code of one to four characters")
        }
        if passwordClass == .generic, isInternet {
            throw .usage("--server, --protocol, --port and --path belong to --class internet")
        }
        if service != nil, isInternet || passwordClass == .internet {
            throw .usage("an internet password has a server instead of a service; use --server")
        }
    }

    /// The classes that the options allow.
    var classes: [ItemClass] {
        if let passwordClass { return [passwordClass.itemClass] }
        return isInternet
            ? [.internetPassword] : service == nil ? [.genericPassword, .internetPassword] : [.genericPassword]
    }

    /// Returns the target of a new item: without other options, of a generic password.
    ///
    /// - Throws: errSecParam for an invalid name; a usage failure if a part is named twice, or if
    ///   nothing is named.
    func target(named text: String?) throws(CommandFailure) -> ItemTarget {
        let name = try text.map { text throws(CommandFailure) in try ItemName(ofNewItem: text) }
        return try target(named: name, label: nil, of: ownClass)
    }

    /// Returns the existing items that a name and the options select.
    ///
    /// - Throws: as ``target(named:)``, but an empty part of a name is one.
    func selection(named text: String?, label: String?) throws(CommandFailure) -> ItemSelection {
        guard let text else { return ItemSelection(try target(named: nil, label: label, of: ownClass)) }
        let name = try ItemName(parsing: text)
        let targets = try classes.map { (itemClass) throws(CommandFailure) -> (own: ItemTarget, label: ItemTarget?) in
            let own = try target(named: name, label: label, of: itemClass)
            return (own: own, label: Self.labelTarget(for: name, own))
        }
        return ItemSelection(name, hasAccount: name.account != nil || account != nil, in: accessGroup, targets)
    }

    /// Returns the target of the items without a service or server that have the name as their label; nil if
    /// there can be none.
    private static func labelTarget(for name: ItemName, _ own: ItemTarget) -> ItemTarget? {
        let label = value(name.service)
        guard !name.service.isEmpty, own.attributes[.label]?.matches(label) != false else { return nil }
        var attributes = own.attributes
        attributes[ItemTarget.serviceAttribute(of: own.itemClass)] = .string("")
        attributes[.label] = label
        return ItemTarget(itemClass: own.itemClass, attributes: attributes, accessGroup: own.accessGroup)
    }

    private func target(
        named name: ItemName?, label: String?, of itemClass: ItemClass
    ) throws(CommandFailure) -> ItemTarget {
        let target = ItemTarget(
            itemClass: itemClass, attributes: try attributes(named: name, label, of: itemClass),
            accessGroup: accessGroup)
        guard !target.attributes.isEmpty else {
            throw .usage("name an item: SERVICE/ACCOUNT, or --service and --account")
        }
        return target
    }

    private var ownClass: ItemClass {
        isInternet || passwordClass == .internet ? .internetPassword : .genericPassword
    }

    /// Returns the attributes that the options select, in any class.
    func attributes(_ label: String?) throws(CommandFailure) -> [ItemAttribute: AttributeValue] {
        try attributes(named: nil, label, of: ownClass)
    }

    /// Returns the attributes that the options and the name select.
    private func attributes(
        named name: ItemName?, _ label: String?, of itemClass: ItemClass
    ) throws(CommandFailure) -> [ItemAttribute: AttributeValue] {
        let isInternet = itemClass == .internetPassword
        if name != nil, service != nil || server != nil {
            throw .usage("the \(isInternet ? "server" : "service") is given twice: in the name and as an option")
        }
        if name?.account != nil, account != nil {
            throw .usage("the account is given twice: in the name and as --account")
        }
        var attributes: [ItemAttribute: AttributeValue] = [:]
        attributes[isInternet ? .server : .service] =
            name.map { Self.value($0.service) } ?? (service ?? server).map(AttributeValue.string)
        attributes[.account] = name?.account.map(Self.value) ?? account.map(AttributeValue.string)
        attributes[.label] = label.map(AttributeValue.string)
        attributes[.protocol] = networkProtocol.map(AttributeValue.string)
        attributes[.port] = port.map { .number(Int64($0)) }
        attributes[.path] = path.map(AttributeValue.string)
        return attributes
    }

    private var isInternet: Bool { server != nil || networkProtocol != nil || port != nil || path != nil }

    /// Returns a value of bytes: a string, or data if they are not UTF-8.
    private static func value(_ bytes: [UInt8]) -> AttributeValue {
        CommandWord(bytes: bytes).attributeValue
    }

    /// Returns the four characters of Apple's constant for a protocol; nil if the text has too many.
    static func code(_ text: String) -> String? {
        if let known = ["https": "htps", "imaps": "imps", "ldaps": "ldps"][text] { return known }
        guard (1...4).contains(text.utf8.count) else { return nil }
        return text + String(repeating: " ", count: 4 - text.utf8.count)
    }
}
