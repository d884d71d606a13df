// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyService

extension AuditEntry {
    /// The audit entry for an operation and its outcome.
    package init(
        _ details: AuditDetails, _ outcome: Result<some ResponseContent, KeychainError>, by caller: CallerIdentity
    ) {
        let named = details.group.map { AccessGroup($0, grade: caller.grade) }
        switch outcome {
        case .success(let answer):
            self.init(
                caller: caller, operation: details.name, itemClass: details.itemClass,
                group: answer.auditedGroup ?? named, keychain: details.keychain, count: answer.auditedCount,
                passcode: details.includesPasscode ? .accepted : nil)
        case .failure(let error):
            // A passcode that was not checked has no result.
            let checksPasscode = details.includesPasscode || details.promptsForPasscode
            self.init(
                caller: caller, operation: details.name, itemClass: details.itemClass, group: named,
                keychain: details.keychain,
                status: error.status, passcode: checksPasscode && error.isWrongPasscode ? .wrong : nil)
        }
    }
}
