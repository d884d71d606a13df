// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LatchkeySecurity

/// Returns the result of a function of `SecKey`, or throws its error in the form for the app.
func keyCall(_ call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    var error: Unmanaged<CFError>?
    guard let result = call(&error) else { throw keyError(error) }
    return result as Data
}

/// Returns the error that a function of `SecKey` stored: an ``LAError`` if its status stands for an
/// authentication.
func keyError(_ stored: Unmanaged<CFError>?) -> any Error {
    guard let error = stored?.takeRetainedValue() else { return NSError(domain: NSOSStatusErrorDomain, code: -50) }
    guard let code = LAError.Code(status: error.code) else { return error }
    return LAError(code, error.localizedDescription, hint: error.localizedRecoverySuggestion)
}
