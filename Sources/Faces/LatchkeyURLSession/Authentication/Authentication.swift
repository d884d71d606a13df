// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import LinuxSystem

/// The answers to the 401s of one origin during a load.
struct Authentication: Sendable {
    private struct Answer: Sendable {
        let scheme: AuthenticationScheme
        let user, password: String
        let credential: URLCredential
        let space: URLProtectionSpace
        /// How often the nonce was used.
        let uses: NonceUses
        /// Whether the program gave the credential. It is then stored as its persistence states.
        var isNew = false
    }

    private var answer: Answer?
    private var failures = 0
    private var staleNonces = 0
    /// Protection spaces that the program rejected, by method.
    private var rejected: Set<String> = []

    /// The most answers to one origin, and the most nonces that a server may let expire.
    private static let (maxFailures, maxStaleNonces) = (20, 3)

    /// For a redirect within the origin.
    var continued: Authentication {
        var next = Authentication()
        next.answer = answer
        return next
    }

    /// The field for a request to the origin.
    func fields(for request: URLRequest, _ url: URL, _ body: RequestBody) -> [(String, String)] {
        guard let answer else { return [] }
        switch answer.scheme {
        case .basic:
            // EXPOSE: Basic authentication sends the password itself, over the connection alone.
            let encoded = Base64.text("\(answer.user):\(answer.password)".utf8)
            return [("Authorization", "Basic \(encoded)")]
        case .digest(let challenge):
            let bytes = body.inMemory
            guard let target = try? HTTPTarget(url), bytes != nil || !answer.scheme.protectsBody,
                let value = try? challenge.authorization(
                    user: answer.user, password: answer.password, method: request.httpMethod ?? "GET",
                    uri: target.pathAndQuery, count: answer.uses.next(),
                    clientNonce: RandomBytes.hexadecimal(count: 16), body: bytes ?? [])
            else { return [] }
            return [("Authorization", value)]
        }
    }

    /// The state for another request after a 401; nil if the 401 is final.
    ///
    /// - Throws: if the program cancels the challenge, or if the server requires the protection of a
    ///   body that is not in memory.
    func next(
        _ exchange: HTTPExchange, _ step: LoadStep, _ url: URL, _ context: LoadContext, _ events: any LoadEvents
    ) async throws(LoadError) -> Authentication? {
        let request = step.request
        // A program that sets the field, authenticates by itself. Proxies are answered by
        // connections.
        guard exchange.status == 401, request.value(forHTTPHeaderField: "Authorization") == nil else { return nil }
        let offered = AuthenticationScheme.supported(
            AuthenticateField.challenges(exchange.values("WWW-Authenticate")))
        let schemes = offered.filter { !$0.protectsBody || step.body.inMemory != nil }
        guard !schemes.isEmpty || offered.isEmpty else { throw Self.unprotectedBody(url) }
        if case .digest(let challenge)? = schemes.first, challenge.isStale, let answer,
            staleNonces < Self.maxStaleNonces
        {
            var next = self
            next.staleNonces += 1
            next.answer = Answer(
                scheme: .digest(challenge), user: answer.user, password: answer.password,
                credential: answer.credential, space: answer.space, uses: NonceUses(),
                isNew: answer.isNew)
            return next
        }
        var next = self
        if answer != nil { next.failures += 1 }
        guard next.failures < Self.maxFailures else { return nil }
        for scheme in schemes where !next.rejected.contains(scheme.method) {
            let space = Self.space(scheme, url)
            let proposed = next.failures == 0 ? await Self.proposal(space, scheme, url, context) : nil
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: proposed, previousFailureCount: next.failures,
                failureResponse: exchange.response(url), error: nil, sender: ChallengeSender())
            let given = await events.answer(challenge, isForConnection: false)
            switch given.disposition {
            case .useCredential: return next.answered(given.credential, scheme, space, isNew: true)
            case .performDefaultHandling: return next.answered(proposed, scheme, space, isNew: false)
            case .rejectProtectionSpace: next.rejected.insert(scheme.method)
            case .cancelAuthenticationChallenge: throw given.isLate ? .timedOut(url) : .cancelled(url)
            }
        }
        return nil
    }

    /// Nil if there is no user with a password, so that the 401 is final.
    private func answered(
        _ credential: URLCredential?, _ scheme: AuthenticationScheme, _ space: URLProtectionSpace, isNew: Bool
    ) -> Authentication? {
        guard let credential, let user = credential.user, let password = credential.password else { return nil }
        var next = self
        next.answer = Answer(
            scheme: scheme, user: user, password: password, credential: credential, space: space, uses: NonceUses(),
            isNew: isNew)
        return next
    }

    /// Stores the credential that the server has accepted, as it says.
    mutating func keep(in storage: URLCredentialStorage?) async {
        guard let storage, let answer, answer.isNew, answer.credential.persistence != .none else { return }
        self.answer?.isNew = false
        await Blocking.value {
            storage.set(answer.credential, for: answer.space)
            return ()
        }
    }

    private static func unprotectedBody(_ url: URL) -> LoadError {
        LoadError(
            .userAuthenticationRequired,
            "the server requires the protection of the body (digest authentication with qop=auth-int), but this is "
                + "not supported for files and streams: use httpBody or uploadTask(with:from:)", url)
    }

    // MARK: Where credentials are from

    private static func space(_ scheme: AuthenticationScheme, _ url: URL) -> URLProtectionSpace {
        URLProtectionSpace(
            host: url.host ?? "", port: url.port ?? (url.scheme == "https" ? 443 : 80), protocol: url.scheme,
            realm: scheme.realm, authenticationMethod: scheme.method)
    }

    /// The URL's credential, or the stored one. None for Basic without TLS, where only the
    /// program's own answer is used.
    private static func proposal(
        _ space: URLProtectionSpace, _ scheme: AuthenticationScheme, _ url: URL, _ context: LoadContext
    ) async -> URLCredential? {
        if case .basic = scheme, url.scheme?.lowercased() != "https" { return nil }
        if let user = url.user(percentEncoded: false), let password = url.password(percentEncoded: false) {
            return URLCredential(user: user, password: password, persistence: .none)
        }
        guard let storage = context.credentials else { return nil }
        return await Blocking.value {
            storage.defaultCredential(for: space)
                ?? storage.credentials(for: space)?.min { $0.key < $1.key }?.value
        }
    }
}

/// Counts the requests with one nonce.
private final class NonceUses: Sendable {
    private let count = SystemMutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
