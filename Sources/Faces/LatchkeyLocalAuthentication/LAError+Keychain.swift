// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel

extension LAError {
    /// Returns the error that tells an app of a failure: an
    /// `LAError` if the failure is one of authentication, otherwise an NSError with the status in NSOSStatusErrorDomain, as for the calls of `SecKey`.
    static func reporting(_ problem: any Error) -> any Error {
        guard let error = problem as? KeychainError else { return problem }
        guard let code = Code(error) else { return NSError(error) }
        return LAError(code, error.problem, hint: error.hint)
    }
}

extension LAError.Code {
    /// The code of a failed call; nil if the call failed for another reason than authentication.
    init?(_ error: KeychainError) {
        switch error.authentication {
        case .failed(let failure): self.init(rawValue: Int(failure.rawValue))
        case .needed: self = .notInteractive
        case nil: self.init(status: Int(error.status.rawValue))
        }
    }

    /// The code of a status that stands for an authentication (keychain-behaviour §3.9); nil for any
    /// other.
    init?(status: Int) {
        switch Int32(exactly: status).map(OSStatusCode.init(rawValue:)) {
        case .userCanceled: self = .userCancel
        case .interactionNotAllowed, .authNeeded: self = .notInteractive
        case .authFailed: self = .authenticationFailed
        default: return nil
        }
    }
}

extension NSError {
    fileprivate convenience init(_ error: KeychainError) {
        var texts = [NSLocalizedDescriptionKey: error.problem]
        texts[NSLocalizedRecoverySuggestionErrorKey] = error.hint
        self.init(domain: NSOSStatusErrorDomain, code: Int(error.status.rawValue), userInfo: texts)
    }
}
