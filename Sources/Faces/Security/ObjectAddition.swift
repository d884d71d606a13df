// SPDX-License-Identifier: Apache-2.0

@_implementationOnly import KeychainModel
@_implementationOnly import LatchkeyClient
@_implementationOnly import LatchkeyService

/// One `SecItemAdd`, which may store several items: the halves of an identity, or those of kSecUseItemList.
@_implementationOnly struct ObjectAddition {
    /// What was stored so far.
    private var stored: [PersistentReference] = []

    /// Stores every element of the request; where one fails, those before it are deleted again.
    mutating func addAll(of request: AddRequest) throws(KeychainError) -> [ItemRecord] {
        do throws(KeychainError) {
            var records: [ItemRecord] = []
            for element in request.elements {
                records.append(request.isIdentity ? try addIdentity(element, returning: request.returning) : try addOne(element[0]))
            }
            return records
        } catch {
            // A single identity keeps what it has: the next attempt adds the other half.
            if request.isList { takeBack() }
            throw error
        }
    }

    private mutating func addOne(_ addition: ItemAddition) throws(KeychainError) -> ItemRecord {
        let record = try KeychainClient.service().add(addition, from: KeychainClient.caller)
        stored.append(record.persistentReference)
        return record
    }

    /// Stores a certificate and its key; one of them may be there already, and both may not.
    private mutating func addIdentity(_ halves: [ItemAddition], returning: ReturnTypes) throws(KeychainError) -> ItemRecord {
        var isNew = false
        for half in halves {
            do throws(KeychainError) {
                _ = try addOne(half)
                isNew = true
            } catch {
                guard error.status == .duplicateItem else { throw error }
            }
        }
        guard isNew else { throw .duplicateItem }
        // The identity that there now is, found by what its certificate is told by.
        let identifying = halves[0].attributes.filter { [.certificateType, .issuer, .serialNumber].contains($0.key) }
        let query = ItemQuery(
            .identity, attributes: identifying, accessGroup: halves[0].accessGroup, synchronizable: .any)
        let found = try KeychainClient.service().copyMatching(query, returning: returning, from: KeychainClient.caller)
        guard let identity = found.records.first else { throw .itemNotFound }
        return identity
    }

    /// Deletes what was stored, as far as that is possible; the error that led here is the caller's.
    private func takeBack() {
        for reference in stored {
            let query = ItemQuery(nil, synchronizable: .any, persistentReference: reference)
            _ = try? KeychainClient.service().delete(query, from: KeychainClient.caller)
        }
    }
}
