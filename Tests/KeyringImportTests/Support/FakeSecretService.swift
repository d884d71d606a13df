// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import SecretMemory
import SecretTransfer
import Synchronization
import SystemBus

/// A Secret Service that a test writes, on a private bus. A test can answer any call otherwise.
final class FakeSecretService: Sendable {
    struct Item: Sendable {
        var label = "label"
        var attributes: [String: String] = [:]
        var secret = "s3cret"
        var contentType = "text/plain"
        var created: UInt64 = 1_200_000_000
    }

    struct Collection: Sendable {
        var label = "Login"
        var isLocked = false
        var items: [Item] = []
    }

    /// The action of a prompt when it is shown.
    enum Prompt: Sendable { case unlocks, dismisses, waits }

    /// Answers a call in place of the service, or returns false.
    typealias Hook = @Sendable (BusMethodCall, FakeSecretService) -> Bool

    static let root: ObjectPath = "/org/freedesktop/secrets"
    static let session: ObjectPath = "/org/freedesktop/secrets/session/s1"
    private static let prompt: ObjectPath = "/org/freedesktop/secrets/prompt/p1"

    private struct State {
        var collections: [Collection]
        var cipher = SessionCipher.plain
        var calls: [String] = []
    }

    let bus: BusConnection
    private let state: Mutex<State>
    private let prompting: Prompt
    private let hook: Hook
    private let registrations = Mutex<[BusRegistration]>([])

    /// - Parameter ownName: a further name of the service on the bus.
    init(
        on bus: PrivateBus, _ collections: [Collection], prompt: Prompt = .dismisses, ownName: BusName? = nil,
        hook: @escaping Hook = { _, _ in false }
    ) throws {
        // More than the client accepts.
        var limits = BusLimits()
        (limits.maxBytes, limits.maxValues) = (100 << 20, 1 << 20)
        self.bus = try BusConnection(to: .custom(bus.address), limits: limits)
        state = Mutex(State(collections: collections))
        (prompting, self.hook) = (prompt, hook)
        let exported = try self.bus.export(at: Self.root) { [weak self] call in self?.receive(call) }
        let owned = try ([ownName] + ["org.freedesktop.secrets"]).compactMap(\.self).map { try self.bus.own($0) }
        registrations.withLock { $0 = [exported] + owned }
    }

    /// Ends the service, with its name.
    func end() { bus.close() }

    deinit { bus.close() }

    /// The members of all calls that have arrived.
    var calls: [String] { state.withLock { $0.calls } }

    func change(_ body: @Sendable (inout [Collection]) -> Void) { state.withLock { body(&$0.collections) } }

    // MARK: Calls

    private func receive(_ call: BusMethodCall) {
        state.withLock { $0.calls.append(call.member) }
        if hook(call, self) { return }
        if let request = call.propertyRequest {
            guard case .getAll = request, let properties = properties(at: call.path) else {
                return call.fail(.unknownObject("there is no such object"))
            }
            return call.answer([properties.busValue])
        }
        call.answer { try self.perform(call) }
    }

    private func perform(_ call: BusMethodCall) throws -> [BusValue] {
        var arguments = call.arguments
        switch call.member {
        case "Ping", "Dismiss", "Close": return []
        case "OpenSession":
            let algorithm = try arguments.next(String.self)
            let input = try arguments.next(BusVariant.self).content
            let (cipher, output) = try SessionCipher.negotiate(algorithm, input)
            state.withLock { $0.cipher = cipher }
            return [.variant(output), .objectPath(Self.session)]
        case "ReadAlias": return [.objectPath("/")]
        case "GetSecrets":
            let paths = try arguments.next([ObjectPath].self)
            let entries = try paths.compactMap { path in
                try item(at: path).map { BusValue.Entry(.objectPath(path), try transferred($0).busValue) }
            }
            return [Self.secrets(entries)]
        case "Unlock":
            let paths = try arguments.next([ObjectPath].self)
            let isLocked = state.withLock { $0.collections.contains { $0.isLocked } }
            return [(isLocked ? [] : paths).busValue, .objectPath(isLocked ? Self.prompt : "/")]
        case "Prompt":
            show(to: call.sender)
            return []
        default: throw BusFailure.unknownMethod("there is no such method")
        }
    }

    /// The answer to GetSecrets.
    static func secrets(_ entries: [BusValue.Entry]) -> BusValue {
        .dictionary(key: .objectPath, value: TransferredSecret.busType, entries)
    }

    func transferred(_ item: Item) throws -> TransferredSecret {
        let cipher = state.withLock { $0.cipher }
        let (parameters, value) = try cipher.encrypt(SharedSecret(copying: item.secret.utf8))
        return TransferredSecret(
            session: Self.session, parameters: parameters, value: value, contentType: item.contentType)
    }

    private func show(to client: BusName) {
        guard prompting != .waits else { return }
        let isDismissed = prompting == .dismisses
        if !isDismissed {
            state.withLock { state in
                for index in state.collections.indices { state.collections[index].isLocked = false }
            }
        }
        try? bus.emit(
            from: Self.prompt, "org.freedesktop.Secret.Prompt", "Completed",
            [.boolean(isDismissed), .variant(.array(of: .objectPath, []))], to: client)
    }

    // MARK: Objects

    /// The path of a collection, or of an item in it.
    static func path(_ collection: Int, _ item: Int? = nil) -> ObjectPath {
        let text = "\(root.text)/collection/c\(collection)" + (item.map { "/i\($0)" } ?? "")
        return (try? ObjectPath(validating: text)) ?? "/"
    }

    private func properties(at path: ObjectPath) -> [String: BusVariant]? {
        if path == Self.root {
            let count = state.withLock { $0.collections.count }
            return ["Collections": BusVariant((0..<count).map { Self.path($0) })]
        }
        if let item = item(at: path) {
            return [
                "Label": BusVariant(item.label), "Attributes": BusVariant(item.attributes), "Locked": BusVariant(false),
                "Created": BusVariant(item.created), "Modified": BusVariant(item.created),
            ]
        }
        return state.withLock { state in
            guard let index = state.collections.indices.first(where: { Self.path($0) == path }) else { return nil }
            let collection = state.collections[index]
            return [
                "Label": BusVariant(collection.label), "Locked": BusVariant(collection.isLocked),
                "Items": BusVariant(collection.items.indices.map { Self.path(index, $0) }),
            ]
        }
    }

    private func item(at path: ObjectPath) -> Item? {
        let numbers = path.text.split(separator: "/").suffix(2).compactMap { Int($0.dropFirst()) }
        guard numbers.count == 2, Self.path(numbers[0], numbers[1]) == path else { return nil }
        return state.withLock { state in
            guard state.collections.indices.contains(numbers[0]),
                state.collections[numbers[0]].items.indices.contains(numbers[1])
            else { return nil }
            return state.collections[numbers[0]].items[numbers[1]]
        }
    }
}
