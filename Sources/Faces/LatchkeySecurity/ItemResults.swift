// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import SecretMemory

/// Shapes the found items into results as Apple does (keychain-behaviour §3.6).
struct ItemResults {
    /// The kinds of result that the caller asked for.
    let returning: ReturnTypes
    /// How the call satisfied access controls; the keys that it returns keep the context.
    let authentication: CallAuthentication
    /// Where the items are; the keys that the call returns are used there.
    let keychains: ChosenKeychains

    /// Returns the result for one item: Data, a reference, a dictionary, or nil if the caller asked
    /// for nothing or the item does not have it.
    ///
    /// - Throws: errSecDecode if the item does not hold the key that a reference needs;
    ///   errSecInteractionNotAllowed.
    func one(_ item: FoundItem) throws(KeychainError) -> CFTypeRef? {
        let record = item.record
        return switch returning {
        case []: nil
        case .data: record.secrets?.data.map { NSData(exposing: $0) }
        case .persistentReference: NSData(copying: record.persistentReference.bytes)
        case .reference: try reference(to: item)
        default: try dictionary(item, record)
        }
    }

    /// Returns the result of an addition. Unlike in a search, an item without data gives empty
    /// Data.
    func added(_ item: FoundItem) throws(KeychainError) -> CFTypeRef? {
        returning == .data && item.record.secrets?.data == nil ? NSData() : try one(item)
    }

    /// Returns the results for several items; an item with a nil single result is omitted.
    func all(_ items: [FoundItem]) throws(KeychainError) -> CFTypeRef {
        var results: [CFTypeRef] = []
        for item in items {
            do throws(KeychainError) {
                if let result = try one(item) { results.append(result) }
            } catch {
                // An item that does not hold a key, or was deleted meanwhile, must not hide the
                // others.
                guard [.decode, .unimplemented, .itemNotFound].contains(error.status) else { throw error }
            }
        }
        return results.withUnsafeBufferPointer { NSArray(objects: $0.baseAddress, count: $0.count) }
    }

    /// Returns the object that stands for an item. Passwords have none.
    private func reference(to item: FoundItem) throws(KeychainError) -> NSObject? {
        switch item {
        case .identity(let identity):
            SecIdentity(
                SecCertificate(try certificate(of: identity.certificate)),
                SecKey(try .stored(identity, authentication.ofReturnedKeys, keychains)))
        case .item(let record):
            switch record.itemClass {
            case .genericPassword, .internetPassword, .identity: nil
            case .key: SecKey(try .stored(at: record.persistentReference, authentication.ofReturnedKeys, keychains))
            case .certificate: SecCertificate(try certificate(of: record))
            }
        }
    }

    private func certificate(of record: ItemRecord) throws(KeychainError) -> Certificate {
        guard let certificate = KeychainCertificates.certificate(of: record) else {
            throw KeychainError(.decode, "the item does not hold a certificate in DER")
        }
        return certificate
    }

    private func dictionary(_ item: FoundItem, _ record: ItemRecord) throws(KeychainError) -> NSDictionary {
        let columns = AttributeNames.of(record.itemClass).columns
        var result = ResultDictionary(capacity: columns.count)
        for (attribute, name) in columns {
            // The digest is returned together with the data.
            if attribute == .digest, !returning.isSuperset(of: [.data, .attributes]) { continue }
            guard let value = record[attribute] else { continue }
            if attribute == .accessList {
                // One of a later version must not make the item unreadable.
                if let list = try? AccessList(value) { result.append(name, SecAccess(list)) }
            } else {
                result.append(name, object(value))
            }
        }
        result.append(kSecAttrAccessControl, SecAccessControl(of: record))
        if returning.contains(.data), case .identity(let identity) = item {
            let certificate = try certificate(of: identity.certificate)
            result.append(kSecAttrIdentityCertificateData, NSData(copying: certificate.der))
        }
        if returning.contains(.data), let secrets = record.secrets {
            if let data = secrets.data { result.append(kSecValueData, NSData(exposing: data)) }
            for (attribute, secret) in secrets.attributes {
                result.append(NSString(string: attribute.rawValue), NSData(exposing: secret))
            }
        }
        if returning.contains(.persistentReference) {
            result.append(kSecValuePersistentRef, NSData(copying: record.persistentReference.bytes))
        }
        if returning.contains(.reference) {
            result.append(kSecClass, NSString(string: record.itemClass.rawValue))
            if let reference = try reference(to: item) { result.append(kSecValueRef, reference) }
        }
        return result.finished
    }

    private func object(_ value: AttributeValue) -> AnyObject {
        switch value {
        case .string(let text): NSString(string: text)
        case .data(let bytes): NSData(copying: bytes)
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        }
    }
}

extension NSData {
    convenience init(copying bytes: [UInt8]) {
        self.init(bytes: bytes, length: bytes.count)
    }

    /// EXPOSE: the caller asked for the secret as Data; the caller then owns the copy.
    convenience init(exposing secret: SharedSecret) {
        let data = secret.withUnsafeBytes { Data($0) }
        self.init(data: data)
    }
}
