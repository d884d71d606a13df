// SPDX-License-Identifier: Apache-2.0

import LatchkeyURLSession

/// The operations that the tests of `LatchkeyURLSession` run in another process.
enum Worker {
    static func run(_ arguments: [String]) async -> Int32 {
        switch (arguments.first, arguments.count) {
        case ("load", 2...), ("load-by-chain", 2...):
            await load(
                anchor: arguments[1], checksChain: arguments[0] == "load-by-chain", Array(arguments.dropFirst(2)))
        case ("upload", 3): await upload(arguments[1], to: arguments[2])
        case ("store", 4): store(host: arguments[1], user: arguments[2], password: arguments[3])
        default: 2
        }
    }

    // MARK: load

    /// Loads URLs one after the other with the configuration `.latchkey`, and prints for each the
    /// status and the body, or the code and the explanation of the error.
    ///
    /// - Parameters:
    ///   - anchor: the file of a certificate in DER that servers are trusted by.
    ///   - checksChain: whether the chain of a server is evaluated, without its name; otherwise nothing is.
    private static func load(anchor: String, checksChain: Bool, _ texts: [String]) async -> Int32 {
        guard let anchor = try? Data(contentsOf: URL(filePath: anchor)) else { return 2 }
        let delegate = AnchorDelegate(anchor, checksChain: checksChain)
        let session = URLSession(configuration: .latchkey, delegate: delegate, delegateQueue: nil)
        for text in texts {
            guard let url = URL(string: text) else { return 2 }
            do {
                let (data, response) = try await session.data(from: url)
                say(
                    "result: \((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
                )
            } catch {
                say("result: \((error as NSError).code) \(error.localizedDescription)")
            }
        }
        return 0
    }

    /// Uploads a file, and prints the status, or the code of the error.
    private static func upload(_ file: String, to text: String) async -> Int32 {
        guard let url = URL(string: text) else { return 2 }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        do {
            let session = URLSession(configuration: .latchkey)
            let (_, response) = try await session.upload(for: request, fromFile: URL(filePath: file))
            say("result: \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        } catch { say("result: \((error as NSError).code)") }
        return 0
    }

    /// Trusts the servers of a CA of its own, as programs do it.
    private final class AnchorDelegate: NSObject, URLSessionDelegate {
        private let anchor: Data
        private let checksChain: Bool
        init(_ anchor: Data, checksChain: Bool) { (self.anchor, self.checksChain) = (anchor, checksChain) }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let trust = challenge.protectionSpace.serverTrust,
                let certificate = SecCertificateCreateWithData(nil, anchor as CFData)
            else { return completionHandler(.performDefaultHandling, nil) }
            SecTrustSetAnchorCertificates(trust, [certificate] as CFArray)
            if checksChain {
                SecTrustSetPolicies(trust, SecPolicyCreateBasicX509())
                guard SecTrustEvaluateWithError(trust, nil) else {
                    return completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
            completionHandler(.useCredential, URLCredential(trust: trust))
        }
    }

    // MARK: store

    /// Stores a permanent credential.
    private static func store(host: String, user: String, password: String) -> Int32 {
        let space = URLProtectionSpace(
            host: host, port: 443, protocol: "https", realm: "the realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let credential = URLCredential(user: user, password: password, persistence: .permanent)
        URLCredentialStorage.latchkey.set(credential, for: space)
        return 0
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
