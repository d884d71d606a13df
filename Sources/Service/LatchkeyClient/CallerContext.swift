// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService

/// The caller identity and the keychain service of the current task. It is nil in ordinary
/// programs, which have the identity of their process.
///
/// Tests use it to act as any program, on a separate keychain. It grants no rights, because the
/// identity of an in-process caller is only a claim.
@_spi(Testing) public struct CallerContext: Sendable {
    public var identity: CallerIdentity
    public var service: any KeychainService
    /// Where the person can be asked; by default nowhere.
    public var place: PromptPlace

    public init(identity: CallerIdentity, service: any KeychainService, place: PromptPlace = .none) {
        self.identity = identity
        self.service = service
        self.place = place
    }

    @TaskLocal public static var current: CallerContext?
}
