// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import LatchkeyNIOSSL
internal import LatchkeySecurity
internal import LinuxSystem
internal import TransportPolicy

/// Why a request has no result, before it becomes a `URLError`.
struct LoadError: Error, Sendable {
    let code: TransportErrorCode
    let explanation: String
    let url: URL?
    var refusal: TLSRefusal?
    var trust: SecTrust?
    /// If a proxy requires a password.
    private(set) var proxyChallenge: HTTPProxyChallenge?

    init(_ code: TransportErrorCode, _ explanation: String, _ url: URL?) {
        (self.code, self.explanation, self.url) = (code, explanation, url)
    }

    /// - Parameter trust: the trust object of the last challenge, if there was one.
    init(_ failure: HTTPFailure, _ url: URL?, _ trust: SecTrust?) {
        self.init(failure.code, failure.explanation, url)
        (refusal, self.trust, proxyChallenge) = (failure.refusal, trust, failure.proxyChallenge)
    }

    init(_ refusal: TransportRefusal, _ url: URL?) {
        self.init(refusal.code, refusal.explanation, url)
        self.refusal = TLSRefusal(refusal)
    }

    /// Settings that cannot be enforced.
    static func unusableSettings(_ explanation: String, _ url: URL?) -> LoadError {
        var error = LoadError(.secureConnectionFailed, explanation, url)
        error.refusal = .unsupported(explanation)
        return error
    }

    static func cancelled(_ url: URL?) -> LoadError { LoadError(.cancelled, "the request was cancelled", url) }
    static func timedOut(_ url: URL?) -> LoadError { LoadError(.timedOut, "the request timed out", url) }

    static func file(_ error: SystemError, _ url: URL?) -> LoadError {
        LoadError(.cannotWriteToFile, "the file of the download cannot be written: \(error)", url)
    }

    static func unsupportedDownload(_ url: URL?) -> LoadError {
        LoadError(
            .unsupportedURL,
            "this version of Foundation takes no file from a protocol: use LatchkeySession.download(for:to:)", url)
    }

    /// The error for programs. The code is `TransportErrorCode`'s: Foundation's constants of TLS
    /// errors have other numbers on Linux.
    var urlError: URLError {
        var userInfo: [String: any Sendable] = [NSLocalizedDescriptionKey: explanation]
        if let url {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        if let refusal { userInfo[NSUnderlyingErrorKey] = refusal }
        if let trust { userInfo[LatchkeyURLSession.peerTrustKey] = trust }
        return URLError(_nsError: NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: userInfo))
    }
}

/// Apple's `NSURLErrorFailingURLPeerTrustErrorKey`; Foundation on Linux lacks it.
let peerTrustKey = "NSURLErrorFailingURLPeerTrustErrorKey"

extension TransportErrorCode {
    static let unknown = Self(rawValue: -1)
    static let tooManyRedirects = Self(rawValue: -1007)
    static let userAuthenticationRequired = Self(rawValue: -1013)
    static let resourceUnavailable = Self(rawValue: -1008)
    static let fileDoesNotExist = Self(rawValue: -1100)
    static let cannotWriteToFile = Self(rawValue: -3003)
}
