// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations

/// The caller identity and the keychain service of the current task. It is nil in ordinary programs, because they have
/// the identity of their process.
///
/// Tests use it to act as any program, on a separate keychain. It grants no rights, because the
/// identity of an in-process caller is only a claim.
package struct CallerContext: Sendable {
    package var identity: CallerIdentity
    package var service: any KeychainService
    /// Where the person can be asked; by default nowhere.
    package var place: PromptPlace

    package init(identity: CallerIdentity, service: any KeychainService, place: PromptPlace = .none) {
        self.identity = identity
        self.service = service
        self.place = place
    }

    @TaskLocal package static var current: CallerContext?
}
