// SPDX-License-Identifier: Apache-2.0

/// Who calls, as far as it is known. What the program says of itself is a claim; only the kernel's word, and what root has written, is more.
public struct CallerIdentity: Sendable, Hashable {
    /// The path of the calling program.
    public var executable: String
    /// The groups the program declares, in order; nil where it declares no identity at all.
    public var declaredGroups: [String]?
    /// Whether this is the user's own command, which sees all of the user's claimed groups.
    public var isUserCommand: Bool
    /// The groups that files of the administrator give to a caller whom the kernel attests, in order; nil where none of them speaks of it.
    public var attestedGroups: [String]?
    /// The sandbox that the caller runs in; nil where it runs in none.
    public var sandbox: Sandbox?
    /// The user and the process that call; nil where the caller is this process.
    public var process: ProcessIdentity?

    /// What a sandbox leaves its programs, whatever they declare.
    public enum Sandbox: Sendable, Hashable {
        /// The items of one group, which is the application's.
        case application(group: String)
        /// No item: the sandbox does not say which application it holds.
        case unidentified
    }

    public struct ProcessIdentity: Sendable, Hashable {
        public let user: UInt32
        public let process: Int32

        public init(user: UInt32, process: Int32) {
            self.user = user
            self.process = process
        }
    }

    public init(
        executable: String, declaredGroups: [String]? = nil, isUserCommand: Bool = false,
        attestedGroups: [String]? = nil,
        sandbox: Sandbox? = nil, process: ProcessIdentity? = nil
    ) {
        self.executable = executable
        self.declaredGroups = declaredGroups
        self.isUserCommand = isUserCommand
        self.attestedGroups = attestedGroups
        self.sandbox = sandbox
        self.process = process
    }

    /// How the caller's groups are known.
    public var grade: AccessGroup.Grade { attestedGroups == nil ? .claimed : .attested }
}
