// SPDX-License-Identifier: Apache-2.0

import SecretMemory
@testable import SecretService
import SecretTransfer
import SystemBus

/// Input that a program of the bus sends to the Secret Service. The first byte selects its kind. The fuzzer and the
/// test that replays its corpus share it.
enum BusMessageInput {
    /// The kind of an input, by its first byte.
    enum Kind: UInt8, CaseIterable {
        /// The length of a signature, the signature, and the content of a call.
        case body
        /// The path of an object.
        case path
        /// The answer of a desktop's prompter.
        case exchange
    }

    /// Reads the input.
    ///
    /// - Returns: whether the input was accepted, and the fault that was found; nil for none.
    static func read(_ bytes: [UInt8], on bus: WireBus) -> (isAccepted: Bool, fault: String?) {
        guard let kind = bytes.first.flatMap(Kind.init) else { return (false, nil) }
        let rest = Array(bytes.dropFirst())
        switch kind {
        case .body: return body(rest, bus)
        case .path: return path(String(decoding: rest, as: UTF8.self))
        case .exchange:
            return (DesktopExchange()?.secret(in: String(decoding: rest, as: UTF8.self)) != nil, nil)
        }
    }

    private static func body(_ bytes: [UInt8], _ bus: WireBus) -> (Bool, String?) {
        guard let length = bytes.first.map(Int.init), bytes.count > length else { return (false, nil) }
        let signature = String(decoding: bytes.dropFirst().prefix(length), as: UTF8.self)
        // The header must be valid, or nothing is decoded at all.
        guard signature.utf8.count == length, (try? BusSignature(parsing: signature)) != nil else {
            return (false, nil)
        }
        guard let values = bus.decode(signature, Array(bytes.dropFirst(1 + length))) else { return (false, nil) }
        for value in values {
            if let fault = use(value) { return (true, fault) }
        }
        return (true, nil)
    }

    /// Reads a value as everything that an argument of the service can be.
    private static func use(_ value: BusValue) -> String? {
        if let attributes = try? SecretAttributes(value) {
            guard (try? SecretAttributes(attributes.busValue)) == attributes else { return "attributes change" }
        }
        _ = try? ItemProperties(value)
        if let properties = [String: BusVariant].from(value) { _ = try? CollectionProperties(properties) }
        if let secret = TransferredSecret(value) {
            let key = SharedSecret(copying: [UInt8](repeating: 7, count: 16))
            _ = try? SessionCipher.plain.decrypt(secret)
            _ = try? SessionCipher.aes(key).decrypt(secret)
        }
        if case .variant(let content) = value {
            _ = try? SessionCipher.negotiate(SessionCipher.diffieHellmanName, content)
        }
        if case .objectPath(let path) = value { return self.path(path.text).1 }
        return nil
    }

    private static func path(_ text: String) -> (Bool, String?) {
        guard let path = try? ObjectPath(validating: text), let object = SecretPath(path) else { return (false, nil) }
        // A name below `aliases` that is no alias is that of a collection.
        let usual = text.replacing("/org/freedesktop/secrets/aliases/", with: "/org/freedesktop/secrets/collection/")
        switch object {
        case .collection(.name(let name)):
            return (true, name.path.text == usual ? nil : "a collection has two paths")
        case .item(.name(let name), let item):
            return (true, ItemReference(name, item).path.text == usual ? nil : "an item has two paths")
        case .session(let number): return (true, number.path == path ? nil : "a session has two paths")
        case .prompt(let number): return (true, number.path == path ? nil : "a prompt has two paths")
        default: return (true, nil)
        }
    }
}
