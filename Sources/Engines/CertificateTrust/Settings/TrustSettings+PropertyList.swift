// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import LinuxSystem

// The property list in which `security trust-settings-export` writes settings, with each certificate's bytes beside what macOS writes.

extension TrustSettings {
    /// The settings as an XML property list.
    public func propertyList() throws(CertificateError) -> [UInt8] {
        let records = entries.map { entry in
            (entry.certificate.sha1.hexadecimal.uppercased(), EntryRecord(entry))
        }
        let list = ListRecord(trustVersion: 1, trustList: Dictionary(records) { first, _ in first })
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        do { return Array(try encoder.encode(list)) } catch { throw CertificateError("the settings cannot be written: \(error)") }
    }

    /// Settings from such a list.
    ///
    /// - Parameter known: where the certificates are found whose bytes the list has not, as macOS's have none.
    /// - Throws: for anything else, and where a certificate is not found or is not the one that its hash says.
    public init(propertyList bytes: [UInt8], known: [Certificate] = []) throws(CertificateError) {
        let list: ListRecord
        do { list = try PropertyListText.decode(ListRecord.self, from: bytes) } catch {
            throw CertificateError("the bytes are no property list of trust settings, in XML and UTF-8")
        }
        guard list.trustVersion == 1 else { throw CertificateError("the trust settings are of version \(list.trustVersion), not 1") }
        for (hash, record) in list.trustList.sorted(by: { $0.key < $1.key }) {
            let certificate: Certificate
            if let der = record.certificate {
                certificate = try Certificate(der: Array(der))
            } else if let found = known.first(where: { $0.sha1.hexadecimal.uppercased() == hash }) {
                certificate = found
            } else {
                throw CertificateError("the certificate \(hash) is not there")
            }
            guard certificate.sha1.hexadecimal.uppercased() == hash else {
                throw CertificateError("a certificate is not the one of its hash")
            }
            var settings: [TrustSetting] = []
            for setting in record.trustSettings ?? [] { settings += try setting.settings() }
            set(settings, of: certificate, at: record.modDate?.timeIntervalSince1970 ?? 0)
        }
    }
}

private struct ListRecord: Codable {
    var trustVersion: Int
    var trustList: [String: EntryRecord]
}

private struct EntryRecord: Codable {
    var issuerName: Data?
    var serialNumber: Data?
    var modDate: Date?
    var trustSettings: [SettingRecord]?
    /// Latchkey's addition.
    var certificate: Data?

    init(_ entry: TrustSettings.Entry) {
        issuerName = Data(entry.certificate.issuer.der)
        serialNumber = Data(entry.certificate.serialNumber)
        modDate = Date(timeIntervalSince1970: entry.modified)
        trustSettings = entry.settings.map(SettingRecord.init)
        certificate = Data(entry.certificate.der)
    }
}

private struct SettingRecord: Codable {
    var result: Int?
    var policy: Data?
    var policyName: String?
    var policyString: String?
    var allowedError: Int?
    /// Restrictions that are not served: a setting that has one would say more than was meant without it.
    var keyUsage: Int?
    var application: Data?

    enum CodingKeys: String, CodingKey {
        case result = "kSecTrustSettingsResult"
        case policy = "kSecTrustSettingsPolicy"
        case policyName = "kSecTrustSettingsPolicyName"
        case policyString = "kSecTrustSettingsPolicyString"
        case allowedError = "kSecTrustSettingsAllowedError"
        case keyUsage = "kSecTrustSettingsKeyUsage"
        case application = "kSecTrustSettingsApplication"
    }

    init(_ setting: TrustSetting) {
        result = setting.result.rawValue
        policyName = setting.policy?.rawValue
        policyString = setting.name
        allowedError = setting.allowedError.map { Int($0.status.rawValue) }
    }

    /// - Throws: for keys that are not known: without them the setting would say more than was meant.
    init(from decoder: any Decoder) throws {
        let names = try decoder.container(keyedBy: AnyName.self).allKeys.map(\.stringValue)
        if let unknown = names.first(where: { CodingKeys(stringValue: $0) == nil }) {
            throw CertificateError("a setting has the unknown part \(unknown)")
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        result = try container.decodeIfPresent(Int.self, forKey: .result)
        policy = try container.decodeIfPresent(Data.self, forKey: .policy)
        policyName = try container.decodeIfPresent(String.self, forKey: .policyName)
        policyString = try container.decodeIfPresent(String.self, forKey: .policyString)
        allowedError = try container.decodeIfPresent(Int.self, forKey: .allowedError)
        keyUsage = try container.decodeIfPresent(Int.self, forKey: .keyUsage)
        application = try container.decodeIfPresent(Data.self, forKey: .application)
    }

    private struct AnyName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// One, or where it is for all of TLS, two.
    func settings() throws(CertificateError) -> [TrustSetting] {
        guard keyUsage == nil, application == nil else {
            throw CertificateError("a setting is for one program or one use of the key, which is not served")
        }
        // Apple's default where nothing is said.
        guard let result = TrustSetting.Result(rawValue: result ?? 1) else { throw CertificateError("a setting has an unknown result") }
        var setting = TrustSetting(result, name: policyString)
        if let allowedError {
            let rule = TrustRule.allCases.first { Int($0.status.rawValue) == allowedError && $0.isAllowable }
            guard let rule else { throw CertificateError("a setting allows the error \(allowedError), which nobody may") }
            setting.allowedError = rule
        }
        var all: [TrustSetting] = []
        for policy in try policies() {
            setting.policy = policy
            all.append(setting)
        }
        return all
    }

    /// One that is nil for all policies.
    private func policies() throws(CertificateError) -> [TrustSetting.Policy?] {
        if let policyName {
            guard let known = TrustSetting.Policy(rawValue: policyName) else {
                throw CertificateError("a setting is for the policy \(policyName), which is not served")
            }
            return [known]
        }
        guard let policy else { return [nil] }
        // 1.2.840.113635.100.1 and one more.
        let apple: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x01]
        guard policy.count == apple.count + 1, policy.starts(with: apple), let last = policy.last,
            let known =
                ([2: [.basic], 3: [.server, .client], 8: [.mail], 16: [.codeSigning], 20: [.timeStamping]]
                as [UInt8: [TrustSetting.Policy]])[last]
        else { throw CertificateError("a setting is for a policy that is not served") }
        return known
    }
}
