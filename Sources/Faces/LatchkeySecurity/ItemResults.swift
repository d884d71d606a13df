// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import SecretMemory

/// Shapes the found items into results as Apple does (keychain-behaviour §3.6).
enum ItemResults {
    /// Returns the result for one item: Data, a reference, a dictionary, or nil if the caller asked
    /// for nothing or the item does not have it.
    ///
    /// - Throws: errSecDecode if the item does not hold the key that a reference needs;
    ///   errSecInteractionNotAllowed.
    static func one(_ record: ItemRecord, returning: ReturnTypes) throws(KeychainError) -> CFTypeRef? {
        switch returning {
        case []: nil
        case .data: record.secrets?.data.map { NSData(exposing: $0) }
        case .persistentReference:
            record.persistentReference.bytes.withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) }
        case .reference: try reference(to: record)
        default: try dictionary(record, returning: returning) as NSDictionary
        }
    }

    /// Returns the result of an addition. Unlike in a search, an item without data gives empty
    /// Data.
    static func added(_ record: ItemRecord, returning: ReturnTypes) throws(KeychainError) -> CFTypeRef? {
        returning == .data && record.secrets?.data == nil ? NSData() : try one(record, returning: returning)
    }

    /// Returns the results for several items; an item whose single result would be nil is omitted.
    static func all(_ records: [ItemRecord], returning: ReturnTypes) throws(KeychainError) -> CFTypeRef {
        var results: [CFTypeRef] = []
        for record in records {
            do throws(KeychainError) {
                if let result = try one(record, returning: returning) { results.append(result) }
            } catch {
                // An item that does not hold a key, or was deleted meanwhile, must not hide the
                // others.
                guard [.decode, .unimplemented, .itemNotFound].contains(error.status) else { throw error }
            }
        }
        return NSArray(array: results)
    }

    /// Returns the object that stands for an item. Passwords have none.
    private static func reference(to record: ItemRecord) throws(KeychainError) -> NSObject? {
        switch record.itemClass {
        case .genericPassword, .internetPassword: return nil
        case .key: return SecKey(try .stored(at: record.persistentReference))
        case .certificate:
            guard let certificate = KeychainCertificates.certificate(of: record) else {
                throw KeychainError(.decode, "the item does not hold a certificate in DER")
            }
            return SecCertificate(certificate)
        case .identity:
            let certificate = SecCertificate(try KeychainCertificates.ofIdentity(record))
            return SecIdentity(certificate, try SecKey(ofCertificate: certificate))
        }
    }

    private static func dictionary(_ record: ItemRecord, returning: ReturnTypes) throws(KeychainError) -> [String: Any]
    {
        var result: [String: Any] = [:]
        for column in ItemSchema.of(record.itemClass).columns where !column.isSecret {
            // The digest is returned together with the data.
            if column.attribute == .digest, !returning.isSuperset(of: [.data, .attributes]) { continue }
            if let value = record[column.attribute] { result[column.attribute.rawValue] = object(value) }
        }
        result[ItemAttribute.accessControl.rawValue] = SecAccessControl(of: record)
        if returning.contains(.data), record.itemClass == .identity {
            result[identityCertificateData] = Data(try KeychainCertificates.ofIdentity(record).der)
        }
        if returning.contains(.data), let secrets = record.secrets {
            if let data = secrets.data { result[ItemDictionary.Key.data] = NSData(exposing: data) }
            for (attribute, secret) in secrets.attributes { result[attribute.rawValue] = NSData(exposing: secret) }
        }
        if returning.contains(.persistentReference) {
            result[ItemDictionary.Key.persistentReference] = Data(record.persistentReference.bytes)
        }
        if returning.contains(.reference) {
            result[ItemDictionary.Key.itemClass] = record.itemClass.rawValue
            result[ItemDictionary.Key.reference] = try reference(to: record)
        }
        return result
    }

    /// `kSecAttrIdentityCertificateData`.
    private static let identityCertificateData = "certdata"

    private static func object(_ value: AttributeValue) -> Any {
        switch value {
        case .string(let text): text
        case .data(let bytes): Data(bytes)
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        }
    }
}

extension NSData {
    /// EXPOSE: the caller asked for the secret as Data; the caller then owns the copy.
    convenience init(exposing secret: SharedSecret) {
        let data = secret.withUnsafeBytes { Data($0) }
        self.init(data: data)
    }
}
