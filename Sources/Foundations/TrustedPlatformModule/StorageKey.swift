// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// The storage key that encrypts all objects: the standard one of the owner hierarchy on P-256 (TCG TPM v2.0
/// Provisioning Guidance, section 7.5.1). It is derived from a seed of the TPM, so that it is the same each time, until
/// the TPM is cleared.
///
/// It has no authorization value, and is not subject to the lockout.
enum StorageKey {
    /// Where an owner makes it persistent, as systemd does; using it there saves the derivation.
    static let persistentHandle: TPM2_HANDLE = 0x8100_0001

    /// - Returns: the key, and its name: the algorithm and the digest of its public area.
    static func open(_ library: Library) throws(TPMError) -> (ObjectHandle, name: [UInt8]) {
        if let found = try persistent(library) { return found }
        let none = ESYS_TR(ESYS_TR_NONE)
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var template = PublicTemplate.storageKey
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        var created: UnsafeMutablePointer<TPM2B_PUBLIC>?
        defer { Esys_Free(created) }
        let key: ObjectHandle
        do throws(TPMError) {
            key = try library.object { handle in
                Esys_CreatePrimary(
                    library.context, ESYS_TR(ESYS_TR_RH_OWNER), ESYS_TR(ESYS_TR_PASSWORD), none, none, &sensitive,
                    &template, &outside, &registers, &handle, &created, nil, nil, nil)
            }
        } catch .wrongAuthorization {
            throw .ownerPassword
        }
        do throws(TPMError) {
            guard let created, PublicTemplate.isStorageKey(created.pointee) else {
                throw .invalidResponse("the storage key has other properties than were requested")
            }
            return (key, try name(of: key, library))
        } catch {
            library.flush(key)
            throw error
        }
    }

    /// The persistent key, if it is the standard one.
    private static func persistent(_ library: Library) throws(TPMError) -> (ObjectHandle, name: [UInt8])? {
        let none = ESYS_TR(ESYS_TR_NONE)
        var key: ObjectHandle
        do throws(TPMError) {
            key = try library.object { handle in
                Esys_TR_FromTPMPublic(library.context, persistentHandle, none, none, none, &handle)
            }
        } catch {
            guard error.isUnknownHandle else { throw error }
            return nil
        }
        key.isPersistent = true
        let found = try library.output { area in
            Esys_ReadPublic(library.context, key.number, none, none, none, &area, nil, nil)
        }
        guard PublicTemplate.isStorageKey(found) else {
            library.flush(key)
            return nil
        }
        return (key, try name(of: key, library))
    }

    private static func name(of key: ObjectHandle, _ library: Library) throws(TPMError) -> [UInt8] {
        let name = try StructureBytes.read(
            try library.output { name in Esys_TR_GetName(library.context, key.number, &name) })
        guard name.count == TPMObject.nameLength else {
            throw .invalidResponse("a name has \(name.count) bytes, expected \(TPMObject.nameLength)")
        }
        return name
    }
}
