// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SystemBus

/// Each call, from its path to the function that answers it.
extension SecretServer {
    /// Answers a call, lets a function answer it later, or returns the work that answers it in turns.
    func receive(_ call: BusMethodCall) -> FairCalls.Step? {
        do throws(BusFailure) {
            try admit(call)
            return try perform(call)
        } catch {
            call.fail(error)
            return nil
        }
    }

    /// The same for a call that was charged.
    func perform(_ call: BusMethodCall) throws(BusFailure) -> FairCalls.Step? {
        switch try answer(to: call) {
        case .values(let values)?: call.answer(values)
        case .read(let read)?:
            return FairCalls.Step(call) { [self] () throws(BusFailure) in
                let read = try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) in
                    try reading { () throws(SecretStoreError) in Result { () throws(BusFailure) in try read() } }
                }
                return try read.get()
            }
        case .inTurns(let step)?: return step
        case nil: break
        }
        return nil
    }

    /// Runs `body` so that its reads see one state of the store. It may run twice.
    func reading<Value>(_ body: () throws(SecretStoreError) -> Value) throws(SecretStoreError) -> Value {
        try consent.noting { () throws(SecretStoreError) in try store.reading(body) }
    }

    /// Charges a call to its process.
    ///
    /// - Throws: `AccessDenied` for a program of another user, `LimitsExceeded` for too many calls.
    func admit(_ call: BusMethodCall) throws(BusFailure) {
        try budgets.spendCall(by: call.caller)
        try requireSameUser(call.caller)
        remember(call.caller)
    }

    /// How a call is answered.
    enum Answer {
        case values([BusValue])
        /// The read is a turn of its own, because its result may be large. It may run twice.
        case read(@Sendable () throws(BusFailure) -> [BusValue])
        case inTurns(FairCalls.Step)

        init?(_ values: [BusValue]?) {
            guard let values else { return nil }
            self = .values(values)
        }
    }

    /// - Returns: nil if the call is answered later.
    func answer(to call: BusMethodCall) throws(BusFailure) -> Answer? {
        guard let path = SecretPath(call.path), exists(path) else { throw .missingObject(call.path) }
        let interfaces = SecretInterfaces.own(of: path) + SecretInterfaces.ofEveryObject
        guard let (interface, method) = Self.method(of: call, in: interfaces) else {
            throw .unknownMethod("There is no method “\(call.member.prefix(64))” at “\(call.path)”")
        }
        guard call.types == method.types else {
            let expected = BusSignature(method.types)
            throw .invalidArguments("\(method.name) needs arguments of the types “(\(expected))”")
        }
        switch interface.name {
        case SecretInterfaces.introspectable.name: return .values([.string(try introspection(of: path, interfaces))])
        case SecretInterfaces.properties.name:
            guard case .collection = path, call.isAboutItems else { return .values(try answerProperties(call, path)) }
            return .read { [self] () throws(BusFailure) in try answerProperties(call, path) }
        default:
            let arguments = CallArguments(call.arguments)
            if let answer = try performInTurns(method.name, arguments, call, path) { return answer }
            return Answer(try perform(interface.name, method.name, arguments, call, path))
        }
    }

    /// The method that a call names. Without an interface, the first one with the name counts.
    private static func method(
        of call: BusMethodCall, in interfaces: [InterfaceDescription]
    ) -> (InterfaceDescription, InterfaceDescription.Method)? {
        for interface in interfaces where call.interface == nil || call.interface == interface.name {
            if let method = interface.method(call.member) { return (interface, method) }
        }
        return nil
    }

    private func perform(
        _ interface: String, _ method: String, _ arguments: CallArguments, _ call: BusMethodCall, _ path: SecretPath
    ) throws(BusFailure) -> [BusValue]? {
        var arguments = arguments
        switch path {
        case .service where interface == SecretInterfaces.masterPassword.name:
            return try performWithPasscode(method, &arguments, call)
        case .service: return try performService(method, &arguments, call)
        case .collection(let selector):
            return try performCollection(method, &arguments, try collection(selector, call.path), call)
        case .item(let selector, let item):
            let reference = ItemReference(try collection(selector, call.path), item)
            return try performItem(method, &arguments, reference, call)
        case .session(let number):
            try sessions.close(number, by: call.caller)
            return []
        case .prompt(let number):
            if method == "Dismiss" {
                try prompts.dismiss(number, by: call.sender)
            } else {
                try prompts.show(number, window: try arguments.next(), by: call.sender)
            }
            return []
        case .folder: throw .unknownMethod("There is no method at “\(call.path)”")
        }
    }

    // MARK: Objects

    /// Whether such a session or prompt exists. Calls that need a collection or an item find out themselves.
    private func exists(_ path: SecretPath) -> Bool {
        switch path {
        case .session(let number): sessions.exists(number)
        case .prompt(let number): prompts.exists(number)
        case .service, .folder, .collection, .item: true
        }
    }

    /// Returns the collection that a path names.
    func collection(_ selector: CollectionSelector, _ path: ObjectPath) throws(BusFailure) -> CollectionName {
        try BusFailure.mapErrors(path) { () throws(SecretStoreError) in try resolve(selector) }
    }

    func resolve(_ selector: CollectionSelector) throws(SecretStoreError) -> CollectionName {
        switch selector {
        case .name(let name): return name
        case .alias(.default): return try store.defaultCollection()
        case .alias(.login): return .login
        case .alias(.session): return .session
        }
    }

    /// Returns the collection, and the item if the path names one; nil for other objects.
    func target(_ path: ObjectPath) throws(SecretStoreError) -> (collection: CollectionName, item: SecretItemID?)? {
        switch SecretPath(path) {
        case .collection(let selector)?: return (collection: try resolve(selector), item: nil)
        case .item(let selector, let item)?: return (collection: try resolve(selector), item: item)
        default: return nil
        }
    }

    // MARK: Introspection

    private func introspection(
        of path: SecretPath, _ interfaces: [InterfaceDescription]
    ) throws(BusFailure) -> String {
        var children: [String] = []
        switch path {
        case .service: children = SecretPath.Folder.allCases.map(\.rawValue)
        case .folder(.aliases): children = CollectionAlias.allCases.map(\.rawValue)
        case .folder(.collection):
            let collections = try BusFailure.mapErrors(SecretPath.root) { () throws(SecretStoreError) in
                try store.collections()
            }
            children = collections.map { PathElement.encode($0.name.text) }
        case .collection(let selector):
            let name = try collection(selector, SecretPath.root)
            _ = try BusFailure.mapErrors(name.path) { () throws(SecretStoreError) in try store.collection(name) }
        case .item(let selector, let item):
            let reference = ItemReference(try collection(selector, SecretPath.root), item)
            _ = try BusFailure.mapErrors(reference.path) { () throws(SecretStoreError) in try store.item(reference) }
        // The sessions and prompts of other programs are not listed.
        case .folder, .session, .prompt: break
        }
        return IntrospectionText(interfaces, children: children).text
    }
}
