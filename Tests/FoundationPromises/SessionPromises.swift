// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// Requests with Foundation's own sessions.
enum SessionPromises {
    /// Loads a URL, and prints the status and the body, or the code of the error; before it, each challenge.
    ///
    /// - Parameter name: the session, or another call that loads a URL.
    static func load(_ name: String, _ text: String) async {
        guard let url = URL(string: text) else { return say("no URL") }
        do {
            switch name {
            case "contents": say("loaded \(String(decoding: try Data(contentsOf: url), as: UTF8.self))")
            case "string": say("loaded \(try String(contentsOf: url, encoding: .utf8))")
            case "download":
                let (file, _) = try await session("delegate").download(from: url)
                say("loaded \(try String(contentsOf: file, encoding: .utf8))")
            default:
                let (data, response) = try await session(name).data(from: url)
                say("\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))")
            }
        } catch { say("error \((error as NSError).domain) \((error as NSError).code)") }
    }

    private static func session(_ name: String) -> URLSession {
        switch name {
        case "shared": .shared
        case "default": URLSession(configuration: .default)
        case "ephemeral": URLSession(configuration: .ephemeral)
        case "delegate": URLSession(configuration: .default, delegate: Refusal(), delegateQueue: nil)
        case "classes":
            // A program that replaces Foundation's classes by one of its own.
            URLSession(
                configuration: {
                    let configuration = URLSessionConfiguration.default
                    configuration.protocolClasses = [OtherHost.self]
                    return configuration
                }())
        default: fatalError("unsupported session \(name)")
        }
    }

    /// Makes a credential the default one for the server of a URL, and loads the URL.
    static func load(user: String, password: String, _ text: String) async {
        guard let url = URL(string: text), let host = url.host, let port = url.port else { return say("no URL") }
        let space = URLProtectionSpace(
            host: host, port: port, protocol: url.scheme, realm: "the realm",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let credential = URLCredential(user: user, password: password, persistence: .forSession)
        URLCredentialStorage.shared.setDefaultCredential(credential, for: space)
        say(URLCredentialStorage.shared.defaultCredential(for: space)?.user ?? "nil")
        await load("default", text)
    }
}

/// Prints each challenge, and refuses the server.
private final class Refusal: NSObject, URLSessionDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        say("challenge \(challenge.protectionSpace.authenticationMethod)")
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}

/// Answers for one host, as mocks in tests do.
private final class OtherHost: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "mock.example" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {
        guard let url = request.url, let client,
            let response = HTTPURLResponse(url: url, statusCode: 299, httpVersion: nil, headerFields: nil)
        else { return }
        client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client.urlProtocol(self, didLoad: Data("mocked".utf8))
        client.urlProtocolDidFinishLoading(self)
    }
    override func stopLoading() {}
}
