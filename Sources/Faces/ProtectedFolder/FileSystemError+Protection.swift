// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

extension FileSystemError {
    /// Creates the error that a program gets for a failure of a protected file.
    init(_ error: FileProtectionError) {
        switch error {
        case .key: self = .accessDenied
        case .system(let error): self.init(error.code)
        case .tooLarge: self = .tooLarge
        case .inUse: self = .busy
        case .readOnly: self = .badDescriptor
        case .notProtected, .unsupportedVersion, .damaged, .headersDisagree, .wrongKey, .keyExhausted, .interrupted,
            .closed, .unsuitable, .changedMeanwhile:
            self = .inputOutput
        }
    }

    /// Runs `body` with the errors of protected files as those of programs.
    static func translating<Value>(
        _ body: () throws(FileProtectionError) -> Value
    ) throws(FileSystemError) -> Value {
        try withErrors(as: FileSystemError.init, body)
    }
}

extension FileProtectionError {
    /// Whether the file is not as it was written, or was written by something else.
    var isDamage: Bool {
        switch self {
        case .notProtected, .unsupportedVersion, .damaged, .headersDisagree, .wrongKey: true
        case .inUse, .readOnly, .tooLarge, .keyExhausted, .interrupted, .closed, .unsuitable, .changedMeanwhile, .key,
            .system:
            false
        }
    }
}
