// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LatchkeyClient
internal import LatchkeyNIOSSL
internal import LatchkeySecurity

/// Asks the delegates of a task and its session, on the session's queue.
///
/// Foundation's client forwards one of the forms of challenges alone, so the delegates are called here. Their calls to
/// the keychain are made as the part of the program that resumed the task.
struct DelegateEvents: LoadEvents {
    let binding: TaskBinding
    /// How long an answer is awaited, in seconds.
    let limit: Double

    private var task: URLSessionTask { binding.task }
    private var session: URLSession { binding.session }

    private var taskDelegate: (any URLSessionTaskDelegate)? { binding.delegate as? any URLSessionTaskDelegate }

    private var asynchronousDelegate: (any LatchkeySessionDelegate)? {
        binding.delegate as? any LatchkeySessionDelegate
    }

    private func onQueue(_ call: @escaping @Sendable () -> Void) {
        session.delegateQueue.addOperation(KeychainClient.bound(call))
    }

    // MARK: Challenges

    var answersConnections: Bool { session.delegate != nil || binding.delegate != nil }

    /// For a connection, the session's form is called first, and the task's form if that one leaves
    /// the decision to the default.
    func answer(_ challenge: URLAuthenticationChallenge, isForConnection: Bool) async -> ChallengeAnswer {
        if isForConnection, let delegate = session.delegate {
            let answer = await sessionAnswer(challenge, delegate)
            if answer.disposition != .performDefaultHandling { return answer }
        }
        if let delegate = asynchronousDelegate {
            let answer = await limited {
                let (disposition, credential) = await delegate.urlSession(session, task: task, didReceive: challenge)
                return ChallengeAnswer(disposition: disposition, credential: credential)
            }
            if answer.disposition != .performDefaultHandling { return answer }
        }
        guard let delegate = taskDelegate else { return .defaultHandling }
        return await asked { finish in
            delegate.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
                finish(ChallengeAnswer(disposition: disposition, credential: credential))
            }
        }
    }

    private func sessionAnswer(_ challenge: URLAuthenticationChallenge, _ delegate: any URLSessionDelegate) async
        -> ChallengeAnswer
    {
        if let delegate = delegate as? any LatchkeySessionDelegate {
            let answer = await limited {
                let (disposition, credential) = await delegate.urlSession(session, didReceive: challenge)
                return ChallengeAnswer(disposition: disposition, credential: credential)
            }
            if answer.disposition != .performDefaultHandling { return answer }
        }
        return await asked { finish in
            delegate.urlSession(session, didReceive: challenge) { disposition, credential in
                finish(ChallengeAnswer(disposition: disposition, credential: credential))
            }
        }
    }

    private func asked(_ ask: @escaping @Sendable (@escaping @Sendable (ChallengeAnswer) -> Void) -> Void) async
        -> ChallengeAnswer
    {
        await Answer.wait(limit: limit, late: .late, cancelled: .cancelled) { finish in
            onQueue { ask(finish) }
        }
    }

    private func limited(_ ask: @escaping @Sendable () async -> ChallengeAnswer) async -> ChallengeAnswer {
        await Answer.wait(limit: limit, late: .late, cancelled: .cancelled) { finish in
            Task { finish(await ask()) }
        }
    }

    // MARK: Redirects, bodies, progress

    func redirect(_ response: HTTPURLResponse, to request: URLRequest) async -> URLRequest? {
        var request = request
        if let delegate = asynchronousDelegate {
            let proposed = request
            let answer = await Answer.wait(limit: limit, late: nil, cancelled: nil) { finish in
                Task {
                    finish(
                        await delegate.urlSession(
                            session, task: task, willPerformHTTPRedirection: response, newRequest: proposed))
                }
            }
            guard let answer else { return nil }
            request = answer
        }
        guard let delegate = taskDelegate else { return request }
        let proposed = request
        return await Answer.wait(limit: limit, late: nil, cancelled: nil) { finish in
            onQueue {
                delegate.urlSession(
                    session, task: task, willPerformHTTPRedirection: response, newRequest: proposed,
                    completionHandler: finish)
            }
        }
    }

    func newBodyStream() async -> StreamHandle? {
        guard let delegate = taskDelegate else { return nil }
        return await Answer.wait(limit: limit, late: nil, cancelled: nil) { finish in
            onQueue {
                delegate.urlSession(session, task: task) { stream in finish(stream.map(StreamHandle.init)) }
            }
        }
    }

    func sent(_ count: Int, total: Int, expected: Int?) {
        guard let delegate = taskDelegate else { return }
        onQueue {
            delegate.urlSession(
                session, task: task, didSendBodyData: Int64(count), totalBytesSent: Int64(total),
                totalBytesExpectedToSend: expected.map(Int64.init) ?? NSURLSessionTransferSizeUnknown)
        }
    }

    func willCache(_ response: CachedURLResponse) async -> CachedURLResponse? {
        guard let delegate = taskDelegate as? any URLSessionDataDelegate, let dataTask = task as? URLSessionDataTask
        else { return response }
        return await Answer.wait(limit: limit, late: nil, cancelled: nil) { finish in
            onQueue {
                delegate.urlSession(session, dataTask: dataTask, willCacheResponse: response, completionHandler: finish)
            }
        }
    }
}
