// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService

/// Who calls, and which keychain answers, for the current task. Ordinary programs have none: they are who they are.
///
/// Tests use it to be any program, on a keychain of their own. It grants nothing: in process, identity is a claim anyway.
@_spi(Testing) public struct CallerContext: Sendable {
    public var identity: CallerIdentity
    public var service: any KeychainService

    public init(identity: CallerIdentity, service: any KeychainService) {
        self.identity = identity
        self.service = service
    }

    @TaskLocal public static var current: CallerContext?
}
