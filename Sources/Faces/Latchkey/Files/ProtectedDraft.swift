// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// A new protected file that has no name yet.
struct ProtectedDraft: ~Copyable {
    let container: ProtectedContainer
    private let descriptor: OwnedDescriptor
    private let directory: OpenDirectory
    private let name: String
    private let path: String

    /// - Parameter protection: nil for that of an existing protected file, of the nearest policy, or
    ///   the default.
    init(
        _ path: String, _ protection: FileProtectionClass?, group: String?, _ keys: any FileKeyProvider
    ) throws(FileProtectionError) {
        let parts = path.split(separator: "/")
        guard let last = parts.last, last != ".", last != ".." else {
            throw .unsuitable("'\(path)' is not the name of a file")
        }
        let parent = ParentDirectory.of(path) ?? "."
        let choice = try FileProtectionChoice(path, in: parent, protection, group: group)
        let key = try keys.newKey(choice.protection, group: choice.group)
        let place: OpenDirectory
        let draft: OwnedDescriptor
        do throws(SystemError) {
            place = try OpenDirectory(followingLinks: FilePath(parent))
            draft = try place.unnamedFile()
        } catch {
            throw .system(error)
        }
        container = try ProtectedContainer(
            creating: try draft.duplicate(), path: path, key.record, key.cipher)
        descriptor = draft
        directory = place
        name = String(last)
        self.path = path
    }

    /// Stores the content durably, and gives the file its name.
    consuming func publish(replaces: Bool) throws(FileProtectionError) -> ProtectedContainer {
        try container.commit()
        try mapSystemErrors { () throws(SystemError) in
            try directory.publish(descriptor, as: FilePath(name), replaces: replaces)
            try directory.synchronize()
        }
        return container
    }
}

/// The class and the group of a new file.
struct FileProtectionChoice {
    let protection: FileProtectionClass
    let group: String?

    init(
        _ path: String, in parent: String, _ protection: FileProtectionClass?, group: String?
    ) throws(FileProtectionError) {
        if let protection {
            (self.protection, self.group) = (protection, group)
            return
        }
        if let present = try ProtectedFileInfo.record(of: path)?.binding {
            (self.protection, self.group) = (present.protection, group ?? present.group.name)
            return
        }
        let policy = try ProtectionPolicy.nearest(to: FilePath(parent))
        self.protection = policy?.protection ?? .completeUntilFirstUserAuthentication
        self.group = group ?? policy?.group
    }
}
