// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// Short forms of the calls that the tests of the service make.
extension TestKeychain {
    static let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1", "G2"])

    @discardableResult
    func add(_ account: String, _ protection: ProtectionClass, data: String = "v") throws(KeychainError) -> ItemRecord {
        try service.by(Self.caller).add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
                secrets: ItemSecrets(data: SharedSecret(copying: data.utf8)), protection: protection))
    }

    func find(_ account: String? = nil, limit: MatchLimit = .one, returning: ReturnTypes = .data) throws(KeychainError)
        -> [String]
    {
        try service.by(Self.caller).copyMatching(query(account, limit: limit), returning: returning).required().records
            .map {
                record in
                record.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
            }
    }

    func update(_ account: String, _ update: ItemUpdate) throws(KeychainError) {
        _ = try service.by(Self.caller).update(query(account), with: update).required()
    }

    func delete(_ account: String) throws(KeychainError) {
        _ = try service.by(Self.caller).delete(query(account)).required()
    }

    func query(_ account: String? = nil, limit: MatchLimit? = nil) -> ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [.service: .string("s")]
        if let account { attributes[.account] = .string(account) }
        return ItemQuery(.genericPassword, attributes: attributes, limit: limit)
    }

    func setPasscode(_ text: String = Sample.passcode) throws(KeychainError) {
        try service.administrator.setPasscode(SharedSecret(copying: text.utf8)) { _, _ in }
    }

    func unlock(_ text: String = Sample.passcode) throws(KeychainError) {
        try service.administrator.unlock(SharedSecret(copying: text.utf8)) { _, _ in }
    }

    /// Enters wrong passcodes, each after the delay of the one before.
    func enterWrongPasscodes(_ count: Int) throws {
        let counted = { [self] in
            let lock = try service.administrator.lockStatus()
            return lock.hasPasscode ? lock.wrongPasscodes : count
        }
        try KeychainTesting.enterWrongPasscodes(1...count, counted: counted) { wrong in
            clock.advance(by: 3600)
            let error = #expect(throws: KeychainError.self) { try unlock(wrong) }
            #expect(error?.status == .authFailed)
        }
    }
}

enum Sample {
    static let passcode = "the passcode"
    static let secret = SharedSecret(copying: passcode.utf8)
}

/// Returns the status that a call throws; 0 for success.
func status(_ body: () throws(KeychainError) -> Void) -> Int32 {
    do {
        try body()
        return 0
    } catch {
        return error.status.rawValue
    }
}
