// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import SecretMemory

extension OpenModule {
    /// Creates an object under the storage key.
    ///
    /// - Parameters:
    ///   - authorization: the object's authorization value; nil for none.
    ///   - secret: the secret to seal; nil if the TPM generates a key.
    func create(
        _ template: TPM2B_PUBLIC, authorization: SharedSecret?, secret: SharedSecret?
    ) throws(TPMError) -> TPMObject {
        let none = ESYS_TR(ESYS_TR_NONE)
        let session = try session(.both)
        for case let secret? in [authorization, secret] { protect(secret) }
        var template = template
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        return try withWiped(TPM2B_SENSITIVE_CREATE()) { (sensitive) throws(TPMError) in
            try authorization?.withUnsafeBytes { (bytes) throws(TPMError) in
                try StructureBytes.fill(&sensitive.sensitive.userAuth, bytes)
            }
            try secret?.withUnsafeBytes { (bytes) throws(TPMError) in
                try StructureBytes.fill(&sensitive.sensitive.data, bytes)
            }
            var privateArea: UnsafeMutablePointer<TPM2B_PRIVATE>?
            var publicArea: UnsafeMutablePointer<TPM2B_PUBLIC>?
            defer {
                Esys_Free(privateArea)
                Esys_Free(publicArea)
            }
            try library.check(
                Esys_Create(
                    context, parent.number, session, none, none, &sensitive, &template, &outside, &registers,
                    &privateArea, &publicArea, nil, nil, nil))
            guard let privateArea, let publicArea else { throw .invalidResponse("it lacks a field") }
            return try TPMObject(
                publicArea: publicArea.pointee, privateArea: privateArea.pointee, parentName: parentName)
        }
    }
}
