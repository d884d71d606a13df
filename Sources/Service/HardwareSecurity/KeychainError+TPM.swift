// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import TrustedPlatformModule

extension KeychainError {
    init(_ error: TPMError) {
        self.init(error.status, error.description, hint: error.hint)
    }
}

extension TPMError {
    fileprivate var status: OSStatusCode {
        switch self {
        case .invalidAddress, .invalidInput: .param
        case .damaged, .newerVersion: .decode
        // Another TPM's key is lost to this machine, and no attempt will change that.
        case .foreign, .foreignIndex, .noIndex: .decode
        case .wrongAuthorization, .policyFailed, .noAttemptsLeft: .authFailed
        default: .notAvailable
        }
    }
}
