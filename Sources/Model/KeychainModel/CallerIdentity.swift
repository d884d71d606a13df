// SPDX-License-Identifier: Apache-2.0

/// Who calls, as far as it is known. What the program says of itself is a claim; only the kernel's word would be more.
public struct CallerIdentity: Sendable, Hashable {
    /// The path of the calling program.
    public var executable: String
    /// The groups the program declares, in order; nil where it declares no identity at all.
    public var declaredGroups: [String]?
    /// Whether this is the user's own command, which sees all of the user's claimed groups.
    public var isUserCommand: Bool

    public init(executable: String, declaredGroups: [String]? = nil, isUserCommand: Bool = false) {
        self.executable = executable
        self.declaredGroups = declaredGroups
        self.isUserCommand = isUserCommand
    }
}
