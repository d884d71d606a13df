// SPDX-License-Identifier: Apache-2.0

/// Why an operation of the TPM failed.
public enum TPMError: Error, Hashable, Sendable {
    // MARK: The connection

    /// The text is not an address: ``TPMAddress``.
    case invalidAddress(String)
    /// There is no TPM at the address.
    case notFound(TPMAddress)
    /// This user must not use the TPM.
    case accessDenied(TPMAddress)
    /// The connection ended: the TPM, its resource manager or the software TPM is gone.
    case lost(TPMAddress)
    /// The TPM did not answer within the timeout.
    case notResponding(TPMAddress)
    /// The bytes are not a response to the command; the text says why.
    case invalidResponse(String)
    /// Other threads used the TPM for longer than a command may take.
    case busy

    // MARK: The state of the TPM

    /// The TPM failed its self-test, and refuses all commands until it is reset.
    case failed
    /// Too many wrong authorizations: the TPM refuses the objects that count them.
    case lockedOut
    /// No slot for objects or sessions is free.
    case noSlots
    /// No room for another index in the non-volatile memory.
    case memoryFull
    /// The non-volatile memory cannot be written now, because it was written too often.
    case memoryBusy
    /// The owner of the TPM has a password. Creating keys and indices requires it.
    case ownerPassword
    /// The TPM lacks a required feature; the text names it.
    case unsupported(String)

    // MARK: The object

    /// The object was made by another TPM, or this TPM was cleared since.
    case foreign
    /// The stored bytes of an object are damaged; the text has the reason.
    case damaged(String)
    /// The bytes were written by another version.
    case newerVersion(found: UInt8, known: UInt8)
    /// The authorization value is wrong.
    case wrongAuthorization
    /// The policy of the object is not satisfied: other values of the PCRs, or no more attempts.
    case policyFailed
    /// Too many wrong PINs were tried: the TPM does not release the secret any more.
    case noAttemptsLeft
    /// The attributes of the object do not allow the operation.
    case notAllowed
    /// The index does not exist.
    case noIndex(UInt32)
    /// The index exists already.
    case indexExists(UInt32)
    /// The index has another definition than the one that was created.
    case foreignIndex(UInt32)
    /// The input cannot be used; the text says why.
    case invalidInput(String)

    // MARK: Others

    /// The required memory could not be allocated.
    case outOfMemory
    /// The TPM refused the command with this code (TCG TPM 2.0 Library, part 2, section 6.6).
    case refused(code: UInt32)
    /// The library failed with this code.
    case libraryFailed(code: UInt32)
    /// The libraries of tpm2-tss cannot be opened; the text says why.
    case libraryMissing(String)
}

extension TPMError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidAddress(let text):
            "\(text) is not the address of a TPM: device:/dev/tpmrm0, swtpm:path=/…, swtpm:port=2321"
        case .notFound(let address): "there is no TPM at \(address)"
        case .accessDenied(let address): "no permission to use the TPM at \(address)"
        case .lost(let address): "the connection to the TPM at \(address) ended"
        case .notResponding(let address): "the TPM at \(address) does not answer"
        case .invalidResponse(let reason): "the response of the TPM is not valid: \(reason)"
        case .busy: "the TPM is busy"
        case .failed: "the TPM has failed its self-test"
        case .lockedOut: "the TPM is locked out after too many wrong authorizations"
        case .noSlots: "the TPM has no free slot for objects or sessions"
        case .memoryFull: "the non-volatile memory of the TPM is full"
        case .memoryBusy: "the non-volatile memory of the TPM cannot be written now"
        case .ownerPassword: "the TPM's owner has a password"
        case .unsupported(let what): "the TPM does not support \(what)"
        case .foreign: "the object was made by another TPM, or the TPM was cleared"
        case .damaged(let reason): "the stored object of the TPM is damaged: \(reason)"
        case .newerVersion(let found, let known): "the stored object has version \(found), expected \(known)"
        case .wrongAuthorization: "the TPM refused the authorization"
        case .policyFailed: "the policy of the object is not satisfied"
        case .noAttemptsLeft: "too many wrong PINs: the TPM does not release the secret any more"
        case .notAllowed: "the attributes of the object do not allow this operation"
        case .noIndex(let index): "the TPM has no index 0x\(String(index, radix: 16))"
        case .indexExists(let index): "the TPM has an index 0x\(String(index, radix: 16)) already"
        case .foreignIndex(let index):
            "the index 0x\(String(index, radix: 16)) of the TPM is not the one that was created"
        case .invalidInput(let reason): reason
        case .outOfMemory: "no memory for the operation of the TPM"
        case .refused(let code): "the TPM refused the command with the code 0x\(String(code, radix: 16))"
        case .libraryMissing(let reason): "tpm2-tss cannot be opened: \(reason)"
        case .libraryFailed(let code): "tpm2-tss failed with the code 0x\(String(code, radix: 16))"
        }
    }

    /// The remedy for the user, if it is known.
    public var hint: String? {
        switch self {
        case .notFound(.device): "enable the TPM in the firmware's settings; ls /dev/tpmrm*"
        case .notFound: "start swtpm, or set LATCHKEY_TPM to its address"
        case .accessDenied(.device): "add the user to the group tss, or use the system's latchkeyd"
        case .lost, .notResponding: "try again; after a suspension the TPM may need some seconds"
        case .busy, .memoryBusy: "try again later"
        case .libraryMissing: "install tpm2-tss (Debian: libtss2-esys-3.0.2-0 and libtss2-mu0)"
        case .failed: "restart the machine"
        case .lockedOut: "wait, or reset the lockout: tpm2_dictionarylockout --clear-lockout"
        case .noSlots: "end other programs that use the TPM, or use /dev/tpmrm0, without such a limit"
        case .memoryFull: "tpm2_getcap handles-nv-index lists the indices; tpm2_nvundefine removes one"
        case .ownerPassword: "remove it: tpm2_changeauth -c owner -p PASSWORD"
        case .foreign, .foreignIndex, .noIndex:
            "if the TPM was cleared or replaced: latchkey recovery-key use, or restore a backup in a new keychain"
        default: nil
        }
    }
}
