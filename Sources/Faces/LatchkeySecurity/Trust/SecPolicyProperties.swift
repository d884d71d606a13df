// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation

// The creation of policies by identifier, and the properties of policies.

/// Returns a policy by its identifier.
///
/// Documentation/Compatibility.md lists the requirements of each policy. Besides its own properties
/// every policy accepts `kSecPolicyKU_…` (Booleans): the leaf's key usage must then name one of
/// those that are true. This replaces the policy's own requirement.
///
/// - Parameters:
///   - policyIdentifier: one of `kSecPolicyApple…` and `kSecPolicyMacAppStoreReceipt`.
///   - properties:
///     `kSecPolicyName` (a host for SSL and IPsec, an email address for S/MIME, a host or an array of them for EAP, a pass type for Passbook), `kSecPolicyClient`
///     for SSL, IPsec and EAP,
///     `kSecPolicyTeamIdentifier` for Passbook (required there), and `kSecPolicyRevocationFlags` for revocation, with
///     every available method as the default.
/// - Returns: nil for other identifiers, and if a property is unknown, missing or of the wrong
///   type.
@discardableResult
public func SecPolicyCreateWithProperties(_ policyIdentifier: Any, _ properties: CFDictionary?) -> SecPolicy? {
    guard let identifier = policyIdentifier as? String, let given = PolicyProperties(properties),
        let policy = given.policy(identifier as CFString)
    else { return nil }
    return SecPolicy(given.keyUsages.isEmpty ? policy : .keyUsages(given.keyUsages, of: policy))
}

/// Returns the properties for
/// ``SecPolicyCreateWithProperties(_:_:)`` to create the same policy: its identifier under `kSecPolicyOid` and, if the
/// policy has them, `kSecPolicyName`, `kSecPolicyClient`, `kSecPolicyTeamIdentifier`, `kSecPolicyRevocationFlags` and
/// `kSecPolicyKU_…`.
@discardableResult
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    NSDictionary(dictionary: policyRef.policy.properties)
}

extension TrustPolicy {
    fileprivate var properties: [CFString: Any] {
        var properties: [CFString: Any] = [:]
        switch self {
        case .basicX509: properties[kSecPolicyOid] = kSecPolicyAppleX509Basic
        case .server(let name): properties = Self.named(kSecPolicyAppleSSL, name?.description)
        case .client(let name): properties = Self.named(kSecPolicyAppleSSL, name?.description, isClient: true)
        case .ipsec(let isServer, let name):
            properties = Self.named(kSecPolicyAppleIPsec, name?.description, isClient: !isServer)
        case .eapServer(let names): properties = Self.named(kSecPolicyAppleEAP, names?.map(\.text))
        case .eapClient(let names): properties = Self.named(kSecPolicyAppleEAP, names?.map(\.text), isClient: true)
        case .mail(let address): properties = Self.named(kSecPolicyAppleSMIME, address)
        case .codeSigning: properties[kSecPolicyOid] = kSecPolicyAppleCodeSigning
        case .timeStamping: properties[kSecPolicyOid] = kSecPolicyAppleTimeStamping
        case .macAppStoreReceipt: properties[kSecPolicyOid] = kSecPolicyMacAppStoreReceipt
        case .appleID: properties[kSecPolicyOid] = kSecPolicyAppleIDValidation
        case .pass(let type, let team):
            properties = Self.named(kSecPolicyApplePassbookSigning, type)
            properties[kSecPolicyTeamIdentifier] = team
        case .keyUsages(let usages, let policy):
            properties = policy.properties
            for (key, usage) in PolicyProperties.keyUsages where usages.contains(usage) { properties[key] = true }
        case .revocation(let options):
            properties[kSecPolicyOid] = kSecPolicyAppleRevocation
            properties[kSecPolicyRevocationFlags] = NSNumber(value: options.rawValue)
        }
        return properties
    }

    private static func named(_ identifier: CFString, _ name: Any?, isClient: Bool = false) -> [CFString: Any] {
        var properties: [CFString: Any] = [kSecPolicyOid: identifier]
        properties[kSecPolicyName] = name
        if isClient { properties[kSecPolicyClient] = true }
        return properties
    }
}

/// The properties that a program passes with a policy's identifier.
private struct PolicyProperties {
    /// The names; more than one only for EAP.
    private var names: [String]?
    /// Whether the names were given as an array.
    private var hasSeveralNames = false
    private var isClient = false
    private var team: String?
    private var flags: CFOptionFlags?
    private(set) var keyUsages: KeyUsage = []
    private var keys: Set<String> = []

    static var keyUsages: [(CFString, KeyUsage)] {
        [
            (kSecPolicyKU_DigitalSignature, .digitalSignature), (kSecPolicyKU_NonRepudiation, .contentCommitment),
            (kSecPolicyKU_KeyEncipherment, .keyEncipherment), (kSecPolicyKU_DataEncipherment, .dataEncipherment),
            (kSecPolicyKU_KeyAgreement, .keyAgreement), (kSecPolicyKU_KeyCertSign, .keyCertSign),
            (kSecPolicyKU_CRLSign, .crlSign),
            (kSecPolicyKU_EncipherOnly, .encipherOnly), (kSecPolicyKU_DecipherOnly, .decipherOnly),
        ]
    }

    /// Nil if the value of a property has the wrong type.
    init?(_ properties: CFDictionary?) {
        for (key, value) in properties ?? [:] {
            guard let key = key as? String, take(value, for: key) else { return nil }
        }
    }

    /// - Returns: whether the value has the type of the key. Whether the policy has such a property
    ///   is checked later.
    private mutating func take(_ value: Any, for key: String) -> Bool {
        if let (_, usage) = Self.keyUsages.first(where: { $0.0 as String == key }) {
            guard let flag = value as? Bool else { return false }
            if flag { keyUsages.insert(usage) }
            return true
        }
        switch key as CFString {
        // Every policy accepts its own identifier as a property.
        case kSecPolicyOid: return true
        case kSecPolicyName:
            names = (value as? String).map { [$0] } ?? value as? [String]
            hasSeveralNames = !(value is String)
            keys.insert(key)
            return names != nil
        case kSecPolicyClient:
            keys.insert(key)
            guard let flag = value as? Bool else { return false }
            isClient = flag
            return true
        case kSecPolicyTeamIdentifier:
            keys.insert(key)
            team = value as? String
            return team != nil
        case kSecPolicyRevocationFlags:
            keys.insert(key)
            flags = (value as? NSNumber)?.uintValue
            return flags != nil
        default:
            keys.insert(key)
            return true
        }
    }

    /// Whether there are no properties other than these.
    private func has(_ allowed: CFString...) -> Bool { keys.isSubset(of: allowed.map { $0 as String }) }

    /// Returns the policy; nil if the identifier is unknown, or the policy does not have one of the
    /// properties.
    func policy(_ identifier: CFString) -> TrustPolicy? {
        guard !hasSeveralNames || identifier == kSecPolicyAppleEAP else { return nil }
        let name = names?.first
        let server = name.map { ServerName(requested: $0) }
        switch identifier {
        case kSecPolicyAppleX509Basic where has(): return .basicX509
        case kSecPolicyAppleSSL where has(kSecPolicyName, kSecPolicyClient):
            return isClient ? .client(server) : .server(server)
        case kSecPolicyAppleIPsec where has(kSecPolicyName, kSecPolicyClient):
            return .ipsec(isServer: !isClient, server)
        case kSecPolicyAppleEAP where has(kSecPolicyName, kSecPolicyClient):
            let trusted = names?.map { TrustedServerName($0) }
            return isClient ? .eapClient(trusted) : .eapServer(trusted)
        case kSecPolicyAppleSMIME where has(kSecPolicyName): return .mail(address: name)
        case kSecPolicyAppleCodeSigning where has(): return .codeSigning
        case kSecPolicyAppleTimeStamping where has(): return .timeStamping
        case kSecPolicyMacAppStoreReceipt where has(): return .macAppStoreReceipt
        case kSecPolicyAppleIDValidation where has(): return .appleID
        case kSecPolicyApplePassbookSigning where has(kSecPolicyName, kSecPolicyTeamIdentifier):
            return team.map { .pass(type: name, team: $0) }
        case kSecPolicyAppleRevocation where has(kSecPolicyRevocationFlags):
            let options = RevocationOptions(rawValue: flags ?? kSecRevocationUseAnyAvailableMethod)
            return options.isUnderstood ? .revocation(options) : nil
        default: return nil
        }
    }
}
