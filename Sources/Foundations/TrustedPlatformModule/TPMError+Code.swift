// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

extension TPMError {
    /// - Parameter code: a response code of a TPM or of tpm2-tss; not 0.
    init(code: TSS2_RC) {
        guard code >> 16 == 0 else {
            self =
                switch code {
                case CTSS2_ESYS_MEMORY: .outOfMemory
                // The response was changed between the TPM and this process.
                case CTSS2_ESYS_RESPONSE_AUTHENTICATION: .invalidResponse("it is not authentic")
                default: code >> 16 == 11 || code >> 16 == 12 ? Self(code: code & 0xFFFF) : .libraryFailed(code: code)
                }
            return
        }
        // Codes of format 1 have the number of the handle, parameter or session in other bits.
        self = code & 0x80 != 0 ? Self.format1(code & 0x3F, code) : Self.format0(code)
    }

    private static func format0(_ code: TSS2_RC) -> TPMError {
        switch code {
        case 0x101: .failed  // TPM_RC_FAILURE
        case 0x126, 0x127, 0x128: .policyFailed  // TPM_RC_POLICY, PCR, PCR_CHANGED
        case 0x12F: .policyFailed  // TPM_RC_AUTH_UNAVAILABLE: an authorization that the object does not have
        case 0x143: .unsupported("a command that is required")  // TPM_RC_COMMAND_CODE
        case 0x149: .notAllowed  // TPM_RC_NV_AUTHORIZATION
        case 0x14B: .memoryFull  // TPM_RC_NV_SPACE
        case 0x902...0x906: .noSlots  // TPM_RC_OBJECT_MEMORY … TPM_RC_OBJECT_HANDLES
        case 0x908, 0x90A, 0x922: .busy  // TPM_RC_YIELDED, TESTING, RETRY
        case 0x920, 0x923: .memoryBusy  // TPM_RC_NV_RATE, NV_UNAVAILABLE
        case 0x921: .lockedOut  // TPM_RC_LOCKOUT
        default: .refused(code: code)
        }
    }

    private static func format1(_ number: TSS2_RC, _ code: TSS2_RC) -> TPMError {
        switch number {
        case 0x02: .notAllowed  // TPM_RC_ATTRIBUTES
        case 0x0E, 0x22: .wrongAuthorization  // TPM_RC_AUTH_FAIL, BAD_AUTH
        case 0x1D: .policyFailed  // TPM_RC_POLICY_FAIL
        case 0x1F, 0x25: .foreign  // TPM_RC_INTEGRITY, BINDING
        case 0x26: .unsupported("the curve")  // TPM_RC_CURVE
        case 0x27: .invalidInput("the point is not on the curve")  // TPM_RC_ECC_POINT
        default: .refused(code: code)
        }
    }

    /// Whether a connection that was opened earlier is of no use any more: it ended, or the TPM was
    /// reset, so that it does not know the handles.
    var isOutdatedConnection: Bool {
        switch self {
        case .lost: true
        // TPM_RC_REFERENCE_H0 to S6, and TPM_RC_INITIALIZE.
        case .refused(let code): 0x910...0x91E ~= code || code == 0x100
        default: false
        }
    }

    /// Whether there is no index or persistent object with the handle: TPM_RC_HANDLE.
    var isUnknownHandle: Bool {
        guard case .refused(let code) = self else { return false }
        return code >> 16 == 0 && code & 0xBF == 0x8B
    }
}
