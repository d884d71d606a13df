// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel

/// Runs a call that returns nil and an error on failure. The error is an NSError in
/// NSOSStatusErrorDomain.
func reporting<Result>(to error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws -> Result) -> Result? {
    do {
        return try body()
    } catch let problem {
        error?.pointee = .passRetained(NSError(problem))
        return nil
    }
}

extension NSError {
    convenience init(_ problem: any Error) {
        let known = problem as? KeychainError ?? KeychainError(.internalFailure)
        var words: [String: Any] = [NSLocalizedDescriptionKey: known.problem]
        words[NSLocalizedRecoverySuggestionErrorKey] = known.hint
        self.init(domain: NSOSStatusErrorDomain, code: Int(known.statusForCaller.rawValue), userInfo: words)
    }
}
