// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import FoundationNetworking
internal import LatchkeyClient

/// Loads `http` and `https` for sessions of `URLSession`, on Latchkey's connections.
///
/// `URLSessionConfiguration.latchkey` has it first in its `protocolClasses`. A program that adds it
/// to a configuration of its own gets the settings of the `Info.plist` beside the program.
public class LatchkeyURLProtocol: URLProtocol {
    /// Whether requests fail if the session's configuration has no settings.
    class var requiresAttachedSettings: Bool { false }

    private let startTask: @Sendable (TaskLoad) -> Void
    /// Used on the task's queue alone.
    private var load: TaskLoad?

    /// Called by `URLSession`.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        // The caller of the keychain is the program part that resumed the task.
        startTask = KeychainClient.boundFunction { (load: TaskLoad) in load.start() }
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    /// Whether the URL has the scheme `http` or `https`. Foundation does not ask about WebSocket
    /// tasks.
    public override class func canInit(with request: URLRequest) -> Bool {
        ["http", "https"].contains(request.url?.scheme?.lowercased())
    }

    /// The request itself.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Called by `URLSession` on the task's queue: at the start of the task, and after each
    /// suspension.
    public override func startLoading() {
        if let load { return load.resume() }
        guard let task, let binding = TaskBinding(task, cached: cachedResponse) else {
            return fail(TaskBinding.unreadable(request.url))
        }
        guard let settings = settings(binding.session.configuration) else {
            return fail(
                .unusableSettings(
                    "the settings of the session were removed from connectionProxyDictionary", request.url))
        }
        switch settings.transport {
        case .failure(let error):
            fail(.unusableSettings("the settings of the program cannot be used: \(error)", request.url))
        case .success(let transport):
            let load = TaskLoad(ClientHandle(self), binding, transport)
            self.load = load
            startTask(load)
        }
    }

    /// Called by `URLSession` on the task's queue, when the task is suspended or cancelled.
    public override func stopLoading() {
        switch task?.state {
        case .canceling, .completed, nil: load?.stop()
        default: load?.pause()
        }
    }

    private func settings(_ configuration: URLSessionConfiguration) -> SessionSettings? {
        SessionSettings.attached(to: configuration) ?? (Self.requiresAttachedSettings ? nil : .process)
    }

    /// Only before a load was started.
    private func fail(_ error: LoadError) { client?.urlProtocol(self, didFailWithError: error.urlError) }
}
