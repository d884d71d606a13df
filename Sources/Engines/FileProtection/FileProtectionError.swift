// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// Why a protected file cannot be created, read or changed.
public enum FileProtectionError: Error, Hashable, Sendable {
    /// The file is not a protected one.
    case notProtected
    /// A newer version of Latchkey has written it.
    case unsupportedVersion(UInt16)
    /// The file was changed without Latchkey, or is incomplete; the text describes the damage.
    case damaged(String)
    /// One of its two headers is damaged or of another file, and the other one may be of an older state.
    case headersDisagree
    /// The wrapped key of the file does not open with the class key: the header was changed.
    case wrongKey
    /// Another handle has it open for writing.
    case inUse
    /// The handle was opened for reading.
    case readOnly
    /// The length exceeds ``ContainerFormat/maxLength``.
    case tooLarge
    /// So much was written under one file key that it must be replaced.
    case keyExhausted
    /// The handle was closed.
    case closed
    /// An earlier change of this handle failed halfway. The content committed before is in the file, and a new handle
    /// reads it.
    case interrupted
    /// The file cannot be converted in place; the text states the reason and the action to take.
    case unsuitable(String)
    /// Another program has changed the file during the conversion, so the conversion was given up.
    case changedMeanwhile
    /// The keychain does not give the key of the file.
    case key(KeychainError)
    case system(SystemError)
}

// MARK: CustomStringConvertible

extension FileProtectionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notProtected: "it is not a protected file"
        case .unsupportedVersion(let version):
            "it has version \(version) of the format; this version of Latchkey reads \(ContainerFormat.version)"
        case .damaged(let problem): "it is damaged: \(problem)"
        case .headersDisagree:
            "it is damaged: its two headers disagree, and the one that opens may have an older state of the file"
        case .wrongKey: "its key does not open: the header was changed"
        case .inUse: "another program has it open for writing"
        case .readOnly: "it was opened for reading only"
        case .tooLarge: "a protected file has at most \(ContainerFormat.maxLength) bytes"
        case .keyExhausted: "too much was written with its key; it needs a new one"
        case .closed: "it was closed"
        case .interrupted: "an earlier change of it failed; close it and open it again"
        case .unsuitable(let reason): reason
        case .changedMeanwhile: "another program changed it meanwhile; it was left as it is"
        case .key(let error): error.problem
        case .system(let error): error.description
        }
    }
}
