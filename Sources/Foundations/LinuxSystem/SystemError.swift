// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A failed system call: the operation, its object and the reason.
public struct SystemError: Error, Hashable, Sendable {
    /// The operation that failed, in words that follow "cannot": `open`, `create the directory`.
    public let operation: String
    /// The file or directory of the operation, as it is shown, if there is one.
    public let path: String?
    /// The `errno` of the call.
    public let code: Int32
    /// The correction that the user can type, if it is known.
    public let hint: String?

    public init(_ operation: String, path: String? = nil, code: Int32, hint: String? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.hint = hint
    }

    public init(_ operation: String, path: FilePath, code: Int32, hint: String? = nil) {
        self.init(operation, path: path.description, code: code, hint: hint)
    }

    /// Returns the error of the call that has just failed, from `errno`.
    public static func last(_ operation: String, path: String? = nil) -> SystemError {
        SystemError(operation, path: path, code: errno)
    }

    public static func last(_ operation: String, path: FilePath) -> SystemError {
        let code = errno
        return SystemError(operation, path: path, code: code)
    }

    /// The C library's text for the code.
    public var reason: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

// MARK: CustomStringConvertible

extension SystemError: CustomStringConvertible {
    public var description: String {
        let object = path.map { " \($0)" } ?? ""
        return "cannot \(operation)\(object): \(reason)"
    }
}
