// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import Logging
internal import SystemBus

/// The backend of xdg-desktop-portal for secrets (`org.freedesktop.impl.portal.Secret`): each application in a sandbox
/// has one secret, and encrypts its own secrets with it.
///
/// The portal states the application of a request; other programs of the user that call the backend can state any
/// application, as they can read the keychain itself.
final class PortalSecrets: Sendable {
    /// A request that was not answered yet.
    private struct Request {
        let call: BusMethodCall
        let identifier: UInt64
    }

    private struct State {
        var requests: [ObjectPath: Request] = [:]
        var next: UInt64 = 0
    }

    private let store: any SecretStore
    private let applications: any ApplicationSecretStore
    private let askers: [SecretAsker]
    private let questions: SharedQuestions
    private let log: Logger
    private let state = SystemMutex(State())

    init(
        store: any SecretStore, applications: any ApplicationSecretStore, askers: [SecretAsker],
        _ questions: SharedQuestions, _ log: Logger
    ) {
        self.store = store
        self.applications = applications
        self.askers = askers
        self.questions = questions
        self.log = log
    }

    static let name: BusName = "org.freedesktop.impl.portal.desktop.latchkey"
    static let path: ObjectPath = "/org/freedesktop/portal/desktop"

    // MARK: Calls

    /// - Parameter program: the caller.
    func receive(_ call: BusMethodCall, program: CallerIdentity) throws(BusFailure) {
        if call.path == Self.path {
            try receiveOwn(call, program)
        } else {
            try close(call)
        }
    }

    private func receiveOwn(_ call: BusMethodCall, _ program: CallerIdentity) throws(BusFailure) {
        switch call.propertyRequest {
        case .get(Self.interface.name, "version")?: return call.answer([.variant(.uint32(Self.version))])
        case .getAll(Self.interface.name)?: return call.answer([["version": BusVariant(Self.version)].busValue])
        case .get?, .getAll?, .set?: throw .invalidArguments("no such property")
        case nil: break
        }
        if call.isCall(of: SecretInterfaces.introspectable.name, "Introspect"), call.types.isEmpty {
            let interfaces = [Self.interface] + SecretInterfaces.ofEveryObject
            return call.answer([.string(IntrospectionText(interfaces, children: []).text)])
        }
        guard call.isCall(of: Self.interface.name, "RetrieveSecret") else {
            throw .unknownMethod("There is no method “\(call.member.prefix(64))”")
        }
        guard call.types == Self.interface.method("RetrieveSecret")?.types else {
            throw .invalidArguments("RetrieveSecret needs arguments of the types “osha{sv}”")
        }
        try retrieve(call, program)
    }

    private func retrieve(_ call: BusMethodCall, _ program: CallerIdentity) throws(BusFailure) {
        var arguments = CallArguments(call.arguments)
        let handle = try arguments.next(ObjectPath.self)
        guard let application = ApplicationID(try arguments.next()) else {
            throw .invalidArguments("The identifier of the application is not valid")
        }
        let descriptor = try arguments.next(BusDescriptor.self)
        guard handle != Self.path, handle.isAtOrBelow(Self.path) else {
            throw .invalidArguments("The handle is not below \(Self.path)")
        }
        try add(handle, call)
        let isRunning = BackgroundThread.run { [self] in
            serve(handle, application, descriptor, program)
        }
        if !isRunning { answer(handle, .failed) }
    }

    /// `Close` of `org.freedesktop.impl.portal.Request`.
    private func close(_ call: BusMethodCall) throws(BusFailure) {
        guard call.isCall(of: "org.freedesktop.impl.portal.Request", "Close"), call.types.isEmpty else {
            throw .unknownMethod("There is no method “\(call.member.prefix(64))”")
        }
        let request = state.withLock { $0.requests[call.path] }
        guard let request else { throw .missingObject(call.path) }
        guard request.call.sender == call.sender else { throw .notTheOwner }
        questions.withdraw(request.identifier)
        answer(call.path, .cancelled)
        call.answer()
    }

    // MARK: Requests

    /// - Throws: `LimitsExceeded`, and `InvalidArgs` for a handle in use.
    private func add(_ handle: ObjectPath, _ call: BusMethodCall) throws(BusFailure) {
        try state.withLock { (state) throws(BusFailure) -> Void in
            guard state.requests[handle] == nil else { throw .invalidArguments("The handle is in use") }
            let account = call.caller.account
            let own = state.requests.values.count { $0.call.caller.account == account }
            // Half of the remaining requests: another program can always make a request.
            guard own < (Self.maxRequests - state.requests.count + own + 1) / 2 else {
                throw .limitsExceeded("too many requests")
            }
            // Prompts have the even numbers.
            state.next += 1
            state.requests[handle] = Request(call: call, identifier: state.next &* 2 &+ 1)
        }
    }

    /// Gives the secret to the application, and asks for the passcode first if the keychain is locked.
    private func serve(
        _ handle: ObjectPath, _ application: ApplicationID, _ descriptor: BusDescriptor, _ program: CallerIdentity
    ) {
        do throws(SecretStoreError) {
            let secret = try applications.secret(of: application)
            answer(handle, DescriptorWriter.write(secret, to: descriptor) ? .success : .failed)
        } catch .locked {
            unlock(handle, application, descriptor, program)
        } catch {
            log.warning("an application got no secret", metadata: ["reason": "\(error)"])
            answer(handle, .failed)
        }
    }

    private func unlock(
        _ handle: ObjectPath, _ application: ApplicationID, _ descriptor: BusDescriptor, _ program: CallerIdentity
    ) {
        let identifier = state.withLock { $0.requests[handle]?.identifier }
        guard let identifier, let name = try? store.defaultCollection(), let domain = try? store.lockDomain(of: name)
        else { return answer(handle, .failed) }
        var client = program
        client.executable = application.text
        let question = UnlockQuestion(
            store: store, askers: askers, log: log, collection: name, program: client, window: "")
        questions.ask(.passcode(domain), identifier, with: { question.ask($0) }) { [self] isUnlocked in
            guard isUnlocked else { return answer(handle, .cancelled) }
            serve(handle, application, descriptor, program)
        }
    }

    /// Ends the requests of a connection that has ended.
    func endAll(of owner: BusName) {
        let ended = state.withLock { state -> [Request] in
            let ended = state.requests.filter { $0.value.call.sender == owner }
            for handle in ended.keys { state.requests[handle] = nil }
            return Array(ended.values)
        }
        for request in ended { questions.withdraw(request.identifier) }
    }

    private func answer(_ handle: ObjectPath, _ response: Response) {
        let request = state.withLock { $0.requests.removeValue(forKey: handle) }
        request?.call.answer([.uint32(response.rawValue), [String: BusVariant]().busValue])
    }

    /// The responses of the portal.
    private enum Response: UInt32 {
        case success = 0
        case cancelled = 1
        case failed = 2
    }

    private static let version: UInt32 = 1
    private static let maxRequests = 64

    private static let interface = InterfaceDescription(
        "org.freedesktop.impl.portal.Secret",
        methods: [
            .init(
                "RetrieveSecret",
                [
                    .init("handle", .objectPath), .init("app_id", .string), .init("fd", .descriptor),
                    .init("options", .properties),
                ], returning: [.init("response", .uint32), .init("results", .properties)])
        ],
        properties: [.init("version", .uint32)])
}
