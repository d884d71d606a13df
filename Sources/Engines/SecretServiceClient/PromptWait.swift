// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem
internal import SystemBus

/// Waits for the end of a prompt. It must exist before the prompt is shown, so that its end is not missed.
struct PromptWait {
    enum End: Sendable {
        case completed(isDismissed: Bool)
        case serviceEnded
        case timedOut
    }

    private let outcome: Outcome
    private let bus: BusConnection
    private let registrations: [BusRegistration]

    init(for prompt: ObjectPath, of service: BusName, on bus: BusConnection) throws(SecretServiceClientError) {
        let outcome = Outcome()
        let rule = SignalRule(
            from: service, "org.freedesktop.Secret.Prompt", "Completed", path: .object(prompt),
            types: [.boolean, .variant])
        registrations = try withErrors(as: SecretServiceClientError.init) { () throws(BusError) -> [BusRegistration] in
            let completed = try bus.subscribe(to: rule) { signal in
                guard case .boolean(let isDismissed)? = signal.content.remaining.first else { return }
                outcome.resolve(.completed(isDismissed: isDismissed))
            }
            let ended = try bus.observeEnds { name in
                if name == service { outcome.resolve(.serviceEnded) }
            }
            return [completed, ended]
        }
        (self.outcome, self.bus) = (outcome, bus)
    }

    func end(within limit: Duration) -> End {
        let deadline = ContinuousClock.now + limit
        while true {
            if let end = outcome.wait() { return end }
            guard bus.isOpen else { return .serviceEnded }
            guard ContinuousClock.now < deadline else { return .timedOut }
        }
    }

    /// The first end that was reported.
    private final class Outcome: Sendable {
        private let end = SystemMutex<End?>(nil)
        private let semaphore = DispatchSemaphore(value: 0)

        func resolve(_ new: End) {
            let isFirst = end.withLock { end in
                guard end == nil else { return false }
                end = new
                return true
            }
            if isFirst { semaphore.signal() }
        }

        /// Waits a tenth of a second; nil if there is no end yet.
        func wait() -> End? {
            _ = semaphore.wait(timeout: .now() + .milliseconds(100))
            return end.withLock { $0 }
        }
    }
}
