// SPDX-License-Identifier: Apache-2.0

/// The settings of a security key that the user chooses at its enrollment.
public struct SecurityKeyRequest: Hashable, Sendable {
    /// 1 to 128 bytes of UTF-8 without control characters; no other enrolled key has it.
    public var name: String
    /// Whether the key also satisfies `userPresence`, and not only `latchkeySecurityKey`.
    public var satisfiesUserPresence: Bool

    public init(name: String, satisfiesUserPresence: Bool = false) {
        self.name = name
        self.satisfiesUserPresence = satisfiesUserPresence
    }
}
