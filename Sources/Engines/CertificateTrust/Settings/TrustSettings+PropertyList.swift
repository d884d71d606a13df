// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import LinuxSystem

// The property list of `security trust-settings-export`. In addition to the content on macOS, it contains the DER of
// each certificate.

extension TrustSettings {
    /// The settings as an XML property list in UTF-8.
    public func propertyList() throws(CertificateError) -> [UInt8] {
        let records = entries.map { entry in
            (Hexadecimal.text(entry.certificate.sha1, isUppercase: true), EntryRecord(entry))
        }
        let list = ListRecord(trustVersion: 1, trustList: Dictionary(records) { first, _ in first })
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        do { return Array(try encoder.encode(list)) } catch {
            throw CertificateError("cannot encode the trust settings: \(error)")
        }
    }

    /// Reads settings from a property list.
    ///
    /// - Parameter known: the certificates to search for an entry without DER in the list, as in lists of macOS.
    /// - Throws: if the list is invalid, or a certificate is not found or does not match its hash.
    public init(propertyList bytes: [UInt8], known: [Certificate] = []) throws(CertificateError) {
        let list: PropertyListValue
        do throws(PropertyListError) { list = try PropertyListReader.read(bytes) } catch {
            throw CertificateError("not an XML property list of trust settings in UTF-8: \(error)")
        }
        guard list["trustVersion"]?.integer == 1 else {
            throw CertificateError("expected trust settings with trustVersion 1")
        }
        guard let entries = list["trustList"]?.dictionary else {
            throw CertificateError("expected a dictionary trustList")
        }
        for (hash, entry) in entries.sorted(by: { $0.key < $1.key }) { try take(entry, of: hash, known) }
    }

    private mutating func take(_ entry: PropertyListValue, of hash: String, _ known: [Certificate])
        throws(CertificateError)
    {
        let certificate: Certificate
        if let der = entry["certificate"]?.data {
            certificate = try Certificate(der: der)
        } else if let found = known.first(where: { Hexadecimal.text($0.sha1, isUppercase: true) == hash }) {
            certificate = found
        } else {
            throw CertificateError(
                "a certificate of the trust settings was not found in the list or among the known certificates")
        }
        guard Hexadecimal.text(certificate.sha1, isUppercase: true) == hash else {
            throw CertificateError("a certificate does not match its hash")
        }
        guard let list = (entry["trustSettings"] ?? .array([])).array else {
            throw CertificateError("expected an array trustSettings")
        }
        var settings: [TrustSetting] = []
        for setting in list { settings += try SettingReader(setting).settings() }
        set(settings, of: certificate, at: entry["modDate"]?.date ?? 0)
    }
}

private struct ListRecord: Encodable {
    var trustVersion: Int
    var trustList: [String: EntryRecord]
}

private struct EntryRecord: Encodable {
    var issuerName: Data?
    var serialNumber: Data?
    var modDate: Date?
    var trustSettings: [SettingRecord]?
    /// The DER, an addition of Latchkey.
    var certificate: Data?

    init(_ entry: TrustSettings.Entry) {
        issuerName = Data(entry.certificate.issuer.der)
        serialNumber = Data(entry.certificate.serialNumber)
        modDate = Date(timeIntervalSince1970: entry.modified)
        trustSettings = entry.settings.map(SettingRecord.init)
        certificate = Data(entry.certificate.der)
    }
}

/// A setting in the written list.
private struct SettingRecord: Encodable {
    let result: Int
    let policyName: String?
    let policyString: String?
    let allowedError: Int?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case result = "kSecTrustSettingsResult"
        case policyName = "kSecTrustSettingsPolicyName"
        case policyString = "kSecTrustSettingsPolicyString"
        case allowedError = "kSecTrustSettingsAllowedError"
    }

    init(_ setting: TrustSetting) {
        result = setting.result.rawValue
        policyName = setting.policy?.rawValue
        policyString = setting.name
        allowedError = setting.allowedError.map { Int($0.status.rawValue) }
    }
}

/// Reads a setting of Latchkey or macOS. Unknown constraints are refused, because without them the
/// setting would allow more than intended.
private struct SettingReader {
    private let members: [String: PropertyListValue]

    init(_ value: PropertyListValue) throws(CertificateError) {
        guard let members = value.dictionary else { throw CertificateError("expected a dictionary as a trust setting") }
        guard members.keys.allSatisfy(Self.known.contains) else {
            throw CertificateError("a trust setting has an unknown key")
        }
        guard members["kSecTrustSettingsKeyUsage"] == nil, members["kSecTrustSettingsApplication"] == nil else {
            throw CertificateError("trust settings for one application or one key usage are not supported")
        }
        self.members = members
    }

    private static let known: Set<String> = [
        "kSecTrustSettingsResult", "kSecTrustSettingsPolicy", "kSecTrustSettingsPolicyName",
        "kSecTrustSettingsPolicyString",
        "kSecTrustSettingsAllowedError", "kSecTrustSettingsKeyUsage", "kSecTrustSettingsApplication",
    ]

    /// The value for a key; nil if there is none.
    ///
    /// - Throws: if the value has another type.
    private func value<Value>(_ key: String, _ read: (PropertyListValue) -> Value?) throws(CertificateError) -> Value? {
        guard let member = members[key] else { return nil }
        guard let value = read(member) else { throw CertificateError("the value of \(key) has the wrong type") }
        return value
    }

    /// The settings of the entry: one, or two if it is for TLS servers and clients.
    func settings() throws(CertificateError) -> [TrustSetting] {
        // Apple's default if there is no result.
        let number = try value("kSecTrustSettingsResult", \.integer) ?? 1
        guard let result = Int(exactly: number).flatMap(TrustSetting.Result.init(rawValue:)) else {
            throw CertificateError("a trust setting has an unknown result")
        }
        var setting = TrustSetting(result, name: try value("kSecTrustSettingsPolicyString", \.string))
        if let allowedError = try value("kSecTrustSettingsAllowedError", \.integer) {
            let rule = TrustRule.allCases.first { Int64($0.status.rawValue) == allowedError && $0.isAllowable }
            guard let rule else {
                throw CertificateError("the error \(allowedError) cannot be allowed by a trust setting")
            }
            setting.allowedError = rule
        }
        var all: [TrustSetting] = []
        for policy in try policies() {
            setting.policy = policy
            all.append(setting)
        }
        return all
    }

    /// The policies of the setting; nil stands for all.
    private func policies() throws(CertificateError) -> [TrustSetting.Policy?] {
        if let policyName = try value("kSecTrustSettingsPolicyName", \.string) {
            guard let known = TrustSetting.Policy(rawValue: policyName) else {
                throw CertificateError("the policy \(policyName) of a trust setting is not supported")
            }
            return [known]
        }
        guard let policy = try value("kSecTrustSettingsPolicy", \.data) else { return [nil] }
        // 1.2.840.113635.100.1 and one more arc.
        let apple: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x01]
        guard policy.count == apple.count + 1, policy.starts(with: apple), let last = policy.last,
            let known =
                ([2: [.basic], 3: [.server, .client], 8: [.mail], 16: [.codeSigning], 20: [.timeStamping]]
                as [UInt8: [TrustSetting.Policy]])[last]
        else { throw CertificateError("the policy of a trust setting is not supported") }
        return known
    }
}
