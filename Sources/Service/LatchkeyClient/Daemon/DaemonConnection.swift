// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyProtocol
internal import LinuxSystem

/// One connection to a daemon, which one thread at a time uses.
final class DaemonConnection: Sendable {
    let welcome: Response.Welcome
    private let channel: FrameChannel

    /// What went wrong with a request.
    enum Failure: Error {
        /// The connection was lost. Before the request was complete, nothing can have been done.
        case lost(wasSent: Bool)
        /// The daemon has answered with an error; the connection goes on.
        case answered(KeychainError)
        /// Something else, after which more may come over the connection that nobody asks for.
        case keychain(KeychainError)
    }

    /// Introduces this program to the daemon at the other end.
    init(_ socket: Socket, claim: CallerIdentity) throws(KeychainError) {
        channel = FrameChannel(socket)
        let response: Response
        do throws(WireError) {
            socket.setTimeouts(receiving: FrameChannel.timeout)
            defer { socket.setTimeouts(receiving: 0) }
            response = try Self.introduce(claim, over: channel)
        } catch {
            throw Self.protocolError(error)
        }
        switch response {
        case .welcome(let welcome): self.welcome = welcome
        case .failure(let error): throw error
        default: throw Self.protocolError(.malformed("it did not introduce itself"))
        }
    }

    /// Says hello. A daemon that does not take the connection says why, and closes it, perhaps before the hello is sent.
    private static func introduce(_ claim: CallerIdentity, over channel: FrameChannel) throws(WireError) -> Response {
        do throws(WireError) {
            try channel.send(try NumberedRequest(number: 0, .hello(Request.Hello(claim: claim))).frame())
        } catch {
            // What it said before it closed can still be read.
            guard case .ended = error else { throw error }
        }
        guard let (frame, _) = try channel.receive() else { throw .ended }
        return try NumberedResponse(frame).response
    }

    /// Whether the daemon has gone, so that nothing needs to be sent to find out.
    var isStale: Bool { channel.socket.isStale }

    /// Wakes the thread that waits for an answer, which will not come any more.
    func cancel() { channel.socket.stop() }

    /// Sends a request, and gives every answer to `take` until it says that it has the last one.
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

    /// Sends a request without waiting for its answer.
    func deliver(_ request: NumberedRequest) throws(Failure) {
        let frame: Frame
        do throws(WireError) {
            frame = try request.frame()
            try channel.send(frame)
        } catch {
            if case .malformed(let problem) = error { throw .keychain(KeychainError(.dataTooLarge, problem)) }
            // A daemon that has no room for this client says so before it closes.
            if let (frame, _) = try? channel.receive(),
                case .failure(let reason)? = (try? NumberedResponse(frame))?.response
            {
                throw .keychain(reason)
            }
            throw .lost(wasSent: false)
        }
    }

    func receive(_ number: UInt64) throws(Failure) -> Response {
        do throws(WireError) {
            guard let (frame, _) = try channel.receive() else { throw .ended }
            let numbered = try NumberedResponse(frame)
            // Number 0 is the answer to no request: why the connection ends.
            guard numbered.number == number || numbered.number == 0 else {
                throw .malformed("it answers another request")
            }
            return numbered.response
        } catch {
            switch error {
            case .malformed, .version: throw .keychain(Self.protocolError(error))
            case .ended, .slow, .system: throw .lost(wasSent: true)
            }
        }
    }

    /// Sends the end of a connection that the daemon is to serve.
    func send(descriptor: Int32) throws(SystemError) {
        try channel.socket.send(descriptor: descriptor)
    }

    private static func protocolError(_ error: WireError) -> KeychainError {
        KeychainError(
            .notAvailable, "this program and latchkeyd do not understand each other: \(error.description)",
            hint: "use one version of Latchkey, and restart latchkeyd after an update")
    }
}
