// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyProtocol
internal import LinuxSystem

/// One connection to a daemon, used by one thread at a time.
final class DaemonConnection: Sendable {
    let welcome: Welcome
    private let channel: FrameChannel

    /// The reason why a request failed.
    enum Failure: Error {
        /// The connection was lost. If the request was not sent completely, nothing was done.
        case lost(wasSent: Bool)
        /// The daemon has answered with an error; the connection remains usable.
        case answered(KeychainError)
        /// Another error. After it, the connection may contain unread data and must not be reused.
        case keychain(KeychainError)
    }

    /// Introduces this program to the daemon at the other end.
    init(_ socket: Socket, claim: CallerIdentity, keychain: KeychainName?) throws(KeychainError) {
        channel = FrameChannel(socket)
        let response: Response
        do throws(WireError) {
            socket.setTimeouts(receiving: FrameChannel.timeout)
            defer { socket.setTimeouts(receiving: 0) }
            response = try Self.introduce(Hello(claim: claim, keychain: keychain), over: channel)
        } catch {
            throw Self.protocolError(error)
        }
        if case .failure(let error) = response { throw error }
        guard case .content(let content) = response, let welcome = content as? Welcome else {
            throw Self.protocolError(.malformed("the first message of latchkeyd must be a welcome"))
        }
        self.welcome = welcome
    }

    /// Sends the hello and returns the response. A daemon that refuses the connection sends the
    /// reason and closes it, possibly before the hello is sent.
    private static func introduce(_ hello: Hello, over channel: FrameChannel) throws(WireError) -> Response {
        do throws(WireError) {
            try channel.send(try NumberedRequest(number: 0, hello).frame())
        } catch {
            // The reason that the daemon sent before it closed the connection can still be read.
            guard case .ended = error else { throw error }
        }
        guard let (frame, _) = try channel.receive() else { throw .ended }
        return try NumberedResponse(frame).response
    }

    /// Whether the daemon has disconnected; checked without sending anything.
    var isStale: Bool { channel.socket.isStale }

    /// Wakes the thread that waits for a response.
    func cancel() { channel.socket.stop() }

    /// Sends a request, and passes each response to `take` until it returns true.
    func exchange(
        _ request: NumberedRequest, _ take: (Response) throws(KeychainError) -> Bool
    ) throws(Failure) {
        try deliver(request)
        while true {
            let response = try receive(request.number)
            if case .failure(let error) = response { throw .answered(error) }
            do throws(KeychainError) {
                if try take(response) { return }
            } catch {
                throw .keychain(error)
            }
        }
    }

    /// Sends a request without waiting for its response.
    func deliver(_ request: NumberedRequest) throws(Failure) {
        let frame: Frame
        do throws(WireError) {
            frame = try request.frame()
            try channel.send(frame)
        } catch {
            if case .malformed(let problem) = error { throw .keychain(KeychainError(.dataTooLarge, problem)) }
            // A daemon that refuses this client sends the reason before it closes the connection.
            if let (frame, _) = try? channel.receive(),
                case .failure(let reason)? = (try? NumberedResponse(frame))?.response
            {
                throw .keychain(reason)
            }
            throw .lost(wasSent: false)
        }
    }

    /// Sends a part of a request that is being answered.
    func send(_ part: NumberedRequest) throws(KeychainError) {
        do throws(Failure) {
            try deliver(part)
        } catch {
            switch error {
            case .keychain(let error), .answered(let error): throw error
            case .lost:
                throw KeychainError(
                    .io, "the connection to latchkeyd was lost during the backup", hint: "try again")
            }
        }
    }

    func receive(_ number: UInt64) throws(Failure) -> Response {
        do throws(WireError) {
            guard let (frame, _) = try channel.receive() else { throw .ended }
            let numbered = try NumberedResponse(frame)
            // A response with number 0 belongs to no request: it is the reason why the connection
            // ends.
            guard numbered.number == number || numbered.number == 0 else {
                throw .malformed("the response belongs to another request")
            }
            return numbered.response
        } catch {
            switch error {
            case .malformed, .version: throw .keychain(Self.protocolError(error))
            case .ended, .slow, .system: throw .lost(wasSent: true)
            }
        }
    }

    /// Sends one end of a connection for the daemon to serve.
    func send(descriptor: Int32) throws(SystemError) {
        try channel.socket.send(descriptor: descriptor)
    }

    private static func protocolError(_ error: WireError) -> KeychainError {
        KeychainError(
            .notAvailable, "this program and latchkeyd are not compatible: \(error.description)",
            hint: "use one version of Latchkey, and restart latchkeyd after an update")
    }
}
