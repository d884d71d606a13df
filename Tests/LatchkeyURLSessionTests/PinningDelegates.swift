// SPDX-License-Identifier: Apache-2.0

import LatchkeyURLSession
import Synchronization

// Delegates as apps have them.

/// Accepts the server that has a certificate with these bytes.
final class CertificatePinning: NSObject, URLSessionDelegate {
    private let pinned: Data
    init(_ pinned: Data) { self.pinned = pinned }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let serverTrust = challenge.protectionSpace.serverTrust,
            let chain = SecTrustCopyCertificateChain(serverTrust) as? [SecCertificate], let certificate = chain.first
        else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        if SecCertificateCopyData(certificate) as Data == pinned {
            completionHandler(.useCredential, URLCredential(trust: serverTrust))
        } else {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}

/// Accepts a trusted server that has one of these public keys, in the task's form of the method.
final class PublicKeyPinning: NSObject, URLSessionTaskDelegate {
    private let pinned: Set<Data>
    init(_ pinned: Set<Data>) { self.pinned = pinned }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let serverTrust = challenge.protectionSpace.serverTrust,
            SecTrustEvaluateWithError(serverTrust, nil), let key = SecTrustCopyKey(serverTrust),
            let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?, pinned.contains(bytes)
        else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        completionHandler(.useCredential, URLCredential(trust: serverTrust))
    }
}

/// Answers server challenges as a test says, and counts them.
final class AnsweringDelegate: NSObject, URLSessionDataDelegate {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)
    let challenges = Mutex<[String]>([])
    let spaces = Mutex<[String]>([])
    private let answer: @Sendable (URLAuthenticationChallenge) -> Answer?

    /// - Parameter answer: nil never calls the completion handler.
    init(_ answer: @escaping @Sendable (URLAuthenticationChallenge) -> Answer?) { self.answer = answer }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        challenges.withLock { $0.append(space.authenticationMethod) }
        spaces.withLock { $0.append("\(space.protocol ?? "")://\(space.host):\(space.port)") }
        guard let (disposition, credential) = answer(challenge) else { return }
        completionHandler(disposition, credential)
        // A second answer has no effect.
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        challenges.withLock { $0.append("task \(challenge.protectionSpace.authenticationMethod)") }
        guard let (disposition, credential) = answer(challenge) else { return }
        completionHandler(disposition, credential)
    }
}

/// Has the asynchronous form alone.
final class AsynchronousPinning: NSObject, URLSessionDelegate, LatchkeySessionDelegate {
    private let pinned: Data
    init(_ pinned: Data) { self.pinned = pinned }

    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    ) {
        guard let serverTrust = challenge.protectionSpace.serverTrust,
            let leaf = (SecTrustCopyCertificateChain(serverTrust) as? [SecCertificate])?.first,
            SecCertificateCopyData(leaf) as Data == pinned
        else { return (.cancelAuthenticationChallenge, nil) }
        return (.useCredential, URLCredential(trust: serverTrust))
    }
}
