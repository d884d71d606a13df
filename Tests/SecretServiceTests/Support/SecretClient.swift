// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import OpenSSLCrypto
import SecretMemory
@testable import SecretService
import SecretTransfer
import Synchronization
import SystemBus

/// A program that uses the Secret Service.
final class SecretClient: Sendable {
    let bus: BusConnection

    init(_ bus: BusConnection) { self.bus = bus }

    static let service: ObjectPath = "/org/freedesktop/secrets"
    static let login: ObjectPath = "/org/freedesktop/secrets/collection/login"
    static let alias: ObjectPath = "/org/freedesktop/secrets/aliases/default"
    static let name: BusName = "org.freedesktop.secrets"

    /// Calls a method; the interface has the prefix `org.freedesktop.Secret.`.
    @discardableResult
    func call(
        _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        returning types: [BusType] = [], holdsSecrets: Bool = false
    ) throws -> BusFields {
        let full = interface.contains(".") ? interface : "org.freedesktop.Secret.\(interface)"
        return try bus.call(
            BusMethod(Self.name, path, full, member), arguments, returning: types, holdsSecrets: holdsSecrets,
            timeout: .seconds(600))
    }

    // MARK: Sessions

    /// A session, and how its secrets are encrypted.
    struct Session {
        let path: ObjectPath
        let cipher: SessionCipher
    }

    func openPlain() throws -> Session {
        var answer = try call(
            Self.service, "Service", "OpenSession", [.string("plain"), .variant(.string(""))],
            returning: [.variant, .objectPath])
        _ = try answer.next(BusVariant.self)
        return Session(path: try answer.next(), cipher: .plain)
    }

    func openEncrypted() throws -> Session {
        let keys = try ModularDiffieHellman(generatingIn: .bits1024)
        var answer = try call(
            Self.service, "Service", "OpenSession",
            [.string(SessionCipher.diffieHellmanName), .variant(.bytes(keys.publicKey))],
            returning: [.variant, .objectPath])
        let peer = try answer.next(BusVariant.self).content(as: [UInt8].self) ?? []
        return Session(path: try answer.next(), cipher: .aes(try SessionCipher.key(keys, with: peer)))
    }

    // MARK: Items

    func create(
        _ secret: String, _ attributes: [String: String], label: String = "label", replacing: Bool = false,
        type: String = "text/plain", in collection: ObjectPath = alias, _ session: Session
    ) throws -> ObjectPath {
        let prefix = "org.freedesktop.Secret.Item."
        let properties: [String: BusVariant] = [
            "\(prefix)Label": BusVariant(label), "\(prefix)Attributes": BusVariant(attributes),
        ]
        let (parameters, value) = try session.cipher.encrypt(SharedSecret(copying: secret.utf8))
        let sent = TransferredSecret(
            session: session.path, parameters: parameters, value: value, contentType: type)
        var answer = try call(
            collection, "Collection", "CreateItem", [properties.busValue, sent.busValue, .boolean(replacing)],
            returning: [.objectPath, .objectPath])
        return try answer.next()
    }

    func search(_ attributes: [String: String]) throws -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        var answer = try call(
            Self.service, "Service", "SearchItems", [attributes.busValue], returning: [.paths, .paths])
        return (try answer.next(), try answer.next())
    }

    func secret(of item: ObjectPath, _ session: Session) throws -> (text: String, type: String) {
        var answer = try call(
            item, "Item", "GetSecret", [.objectPath(session.path)], returning: [.secret], holdsSecrets: true)
        guard let received = TransferredSecret(try answer.nextValue()) else { throw BusFailure.failed("no secret") }
        let plain = try session.cipher.decrypt(received)
        return (plain.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }, received.contentType)
    }

    func property<Value: BusRepresentable>(_ name: String, of path: ObjectPath, _ interface: String) throws -> Value {
        try bus.property(name, of: "org.freedesktop.Secret.\(interface)", at: path, Self.name)
    }

    func text(_ name: String, of path: ObjectPath, _ interface: String) throws -> String {
        try property(name, of: path, interface)
    }

    func set(_ name: String, of path: ObjectPath, _ interface: String, to value: BusVariant) throws {
        try call(
            path, "org.freedesktop.DBus.Properties", "Set",
            [.string("org.freedesktop.Secret.\(interface)"), .string(name), .variant(value.content)])
    }

    // MARK: Prompts

    /// Shows a prompt, and waits for its end.
    func prompt(_ path: ObjectPath) throws -> (isDismissed: Bool, value: BusValue) {
        let rule = SignalRule(
            from: Self.name, "org.freedesktop.Secret.Prompt", "Completed", path: .object(path),
            types: [.boolean, .variant])
        let box = Box()
        let subscription = try bus.subscribe(to: rule) { signal in
            let values = signal.content.remaining
            guard case .boolean(let isDismissed)? = values.first, case .variant(let value)? = values.last else {
                return
            }
            box.value.withLock { $0 = (isDismissed, value) }
        }
        defer { withExtendedLifetime(subscription) {} }
        try call(path, "Prompt", "Prompt", [.string("")])
        guard eventually({ box.value.withLock { $0 != nil } }), let result = box.value.withLock({ $0 }) else {
            throw BusFailure.failed("the prompt did not end")
        }
        return (isDismissed: result.0, value: result.1)
    }

    private final class Box: Sendable {
        let value = Mutex<(Bool, BusValue)?>(nil)
    }
}

/// The name of the error that `body` throws, without its prefix; nil if it throws none.
func errorName(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        guard case .remote(let failure)? = error as? BusError else { return "\(error)" }
        return failure.name.split(separator: ".").last.map(String.init)
    }
}
