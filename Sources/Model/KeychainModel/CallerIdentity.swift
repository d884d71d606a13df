// SPDX-License-Identifier: Apache-2.0

/// The identity of a caller. The program's own statements are only claims; the statements of the kernel and of root's
/// files are attested.
public struct CallerIdentity: Sendable, Hashable {
    /// The path of the calling program.
    public var executable: String { didSet { ownGroup = AccessGroup.program(executable) } }
    /// The own group of a program that declares no identity; nil if its name cannot be that of a group. It is made once:
    /// each request needs it.
    public private(set) var ownGroup: AccessGroup?
    /// The groups that the program declares, in order; nil if it declares no identity.
    public var declaredGroups: [String]?
    /// The groups that root has reserved for other programs, and the file that says so. The caller has none of them.
    public var withheldGroups: [String: String] = [:]
    /// Whether this is the user's own command. It sees all of the user's claimed groups.
    public var isUserCommand: Bool
    /// The groups that the administrator's files give to an attested caller, in order; nil if no
    /// file names the caller.
    public var attestedGroups: [String]?
    /// The sandbox that the caller runs in; nil if there is none.
    public var sandbox: Sandbox?
    /// The calling user and process; nil if the caller is this process.
    public var process: ProcessIdentity?

    /// The items that a sandboxed program may use, regardless of the groups that it declares.
    public enum Sandbox: Sendable, Hashable {
        /// The items of the application's group only.
        case application(group: String)
        /// No item, because the sandbox does not state its application.
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
        ownGroup = AccessGroup.program(executable)
        self.declaredGroups = declaredGroups
        self.isUserCommand = isUserCommand
        self.attestedGroups = attestedGroups
        self.sandbox = sandbox
        self.process = process
    }

    /// How the caller's groups were established.
    public var grade: AccessGroup.Grade { attestedGroups == nil ? .claimed : .attested }
}
