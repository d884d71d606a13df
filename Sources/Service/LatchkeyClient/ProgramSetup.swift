// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService

/// The setup of the keychains of this process, if it opens them itself: the libraries that the program is linked with,
/// and the values of its options. See ``KeychainClient/configure(_:)``.
public struct ProgramSetup: Sendable {
    /// Whether this is the user's own command, with access to all of the user's claimed groups. It is not a privilege:
    /// in process every group is a claim, and any program of the user can claim the same.
    public var isUserCommand: Bool
    /// Of programs that are linked with libfido2.
    public var securityKeys: (any SecurityKeyAccess)?
    /// Hardware that holds keys; of programs that are linked with libtss2.
    public var hardware: SecureHardware
    /// The keychain that is used, in place of those of the search list.
    public var keychain: KeychainName?
    /// Gives the passcode, in place of the environment, when items are locked.
    public var passcode: AutomaticUnlock.Source?

    public init(
        isUserCommand: Bool = false, securityKeys: (any SecurityKeyAccess)? = nil,
        hardware: SecureHardware = SecureHardware()
    ) {
        (self.isUserCommand, self.securityKeys, self.hardware) = (isUserCommand, securityKeys, hardware)
    }
}
