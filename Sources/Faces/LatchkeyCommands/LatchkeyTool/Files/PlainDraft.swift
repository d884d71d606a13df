// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// A new plain file that has no name yet.
struct PlainDraft: ~Copyable {
    private let file: MovableFile
    private let descriptor: OwnedDescriptor

    init(_ file: MovableFile) throws(CommandFailure) {
        self.file = file
        descriptor = try CommandFailure.mapSystemErrors { () throws(SystemError) in try file.directory.unnamedFile() }
    }

    func append(_ part: SharedSecret) throws(CommandFailure) {
        // EXPOSE: the user asked for the content as a plain file.
        try part.withUnsafeBytes { (bytes) throws(CommandFailure) in
            try CommandFailure.mapSystemErrors { () throws(SystemError) in
                try descriptor.write(bytes, path: file.name.description)
            }
        }
    }

    /// Makes the content durable, and gives the file its name.
    func publish() throws(CommandFailure) {
        try CommandFailure.mapSystemErrors { () throws(SystemError) in
            try file.directory.publish(descriptor, as: file.name, replaces: false)
            try file.directory.synchronize()
        }
    }
}
