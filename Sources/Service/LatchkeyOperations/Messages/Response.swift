// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol

/// A response of the daemon. Every request gets one final response; progress, and parts of long
/// answers, may precede it.
package enum Response: Sendable {
    case failure(KeychainError)
    /// - Parameter total: 0 if unknown.
    case progress(done: Int, total: Int)
    case content(any ResponseContent)

    package init(_ outcome: Result<some ResponseContent, KeychainError>) {
        switch outcome {
        case .success(let answer): self = .content(answer)
        case .failure(let error): self = .failure(error)
        }
    }

    /// Whether further responses to the same request follow.
    package var moreFollows: Bool {
        switch self {
        case .failure: false
        case .progress: true
        case .content(let content): content.moreFollows
        }
    }

    fileprivate func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        switch self {
        case .failure(let error): .failure(WireFailure(error))
        case .progress(let done, let total): .progress(WireProgress(done: done, total: total))
        case .content(let content): content.encoded(&secrets)
        }
    }
}

/// A response with the number of its request.
package struct NumberedResponse: Sendable {
    /// 0 for the reason why a connection ends, because it answers no request.
    package var number: UInt64
    package var response: Response

    package init(number: UInt64, _ response: Response) {
        self.number = number
        self.response = response
    }

    /// Encodes the response as a frame.
    package func frame() throws(WireError) -> Frame {
        var secrets = SecretCollector()
        var message = WireResponse()
        message.number = number
        message.content = response.encoded(&secrets)
        return Frame(message: try message.bytes(), secrets: secrets.secrets)
    }

    /// Decodes a response. Unknown fields and codes, and secrets that no field refers to, are
    /// rejected.
    package init(_ frame: Frame) throws(WireError) {
        let message = try WireResponse(bytes: frame.message)
        var secrets = SecretTable(frame.secrets)
        guard let content = message.content else { throw .malformed("a response without content") }
        self.init(number: message.number, try OperationTable.response(content, &secrets))
        try secrets.requireAllTaken()
    }
}

// MARK: Coding

extension WireFailure {
    fileprivate init(_ error: KeychainError) {
        self.init()
        status = error.status.rawValue
        problem = error.problem
        if let hint = error.hint { self.hint = hint }
        switch error.authentication {
        case .needed(let target)?: needed = WireTarget(target)
        case .failed(let failure)?: authenticationFailure = failure.rawValue
        case nil: break
        }
    }

    func decode() throws(WireError) -> KeychainError {
        try requireKnown(self)
        guard status != 0 else { throw .malformed("a failure has the status of success") }
        var error = KeychainError(OSStatusCode(rawValue: status), problem, hint: hasHint ? hint : nil)
        guard !hasNeeded || !hasAuthenticationFailure else {
            throw .malformed("a failure both needs an authentication and is the failure of one")
        }
        if hasNeeded { error.authentication = .needed(try needed.decode()) }
        if hasAuthenticationFailure {
            guard let failure = AuthenticationFailure(rawValue: authenticationFailure) else {
                throw .malformed("unknown failure \(authenticationFailure) of an authentication")
            }
            error.authentication = .failed(failure)
        }
        return error
    }
}

extension WireProgress {
    fileprivate init(done: Int, total: Int) {
        self.init()
        self.done = UInt64(max(0, done))
        self.total = UInt64(max(0, total))
    }

    func decode() throws(WireError) -> Response {
        try requireKnown(self)
        return .progress(done: try number(done, "a progress"), total: try number(total, "a progress"))
    }
}
