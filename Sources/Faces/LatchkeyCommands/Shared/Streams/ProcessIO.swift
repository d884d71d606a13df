// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem
public import SecretMemory

/// The standard streams and the terminal of this process.
public struct ProcessIO: CommandIO, Sendable {
    public init() {}

    public var isInputInteractive: Bool { Terminal.isInputInteractive }
    public var isErrorInteractive: Bool { isatty(STDERR_FILENO) == 1 }
    public var isOutputInteractive: Bool { isatty(STDOUT_FILENO) == 1 }
    public var columns: Int? {
        if let wanted = SecureEnvironment.value(of: "COLUMNS").flatMap(Int.init(_:)), wanted > 0 { return wanted }
        // The shape of `struct winsize`: the other imports determine the module that declares it.
        var size: (rows: UInt16, columns: UInt16, width: UInt16, height: UInt16) = (0, 0, 0, 0)
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.columns > 0 else { return nil }
        return Int(size.columns)
    }

    public func write(_ bytes: UnsafeRawBufferPointer, to stream: CommandStream) throws(KeychainError) {
        let descriptor = Self.descriptor(of: stream)
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written < 0 {
                if errno == EINTR { continue }
                throw KeychainError(.io, SystemError.last("write the output").description)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// The descriptor of a stream, for a child process.
    static func descriptor(of stream: CommandStream) -> Int32 {
        stream == .output ? STDOUT_FILENO : STDERR_FILENO
    }

    public func readLine() throws(KeychainError) -> SharedSecret? {
        try Self.line { (buffer) throws(SystemError) in try Terminal.readInputLine(into: buffer) }
    }

    public func readInput(maxCount: Int) throws(KeychainError) -> SharedSecret? {
        let input = try SecretInput.read("-", maxCount: maxCount)
        return input.count > 0 ? input : nil
    }

    public func readSecret(prompt: StaticString) throws(KeychainError) -> SharedSecret? {
        try Self.line { (buffer) throws(SystemError) in try Terminal.readSecretLine(prompt: prompt, into: buffer) }
    }

    /// Reads into secret memory of the maximum length, and returns a copy with the length of the
    /// line.
    private static func line(
        _ read: (UnsafeMutableRawBufferPointer) throws(SystemError) -> Int?
    ) throws(KeychainError) -> SharedSecret? {
        var count: Int?
        do throws(SystemError) {
            let buffer = try SecretBytes(count: maxLineLength) { (buffer) throws(SystemError) in
                count = try read(buffer)
            }
            guard let count else { return nil }
            return buffer.withUnsafeBytes {
                SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))))
            }
        } catch {
            throw Self.error(error)
        }
    }

    private static func error(_ error: SystemError) -> KeychainError {
        switch error.code {
        case ECANCELED:
            KeychainError(.userCanceled)
        case ENXIO, ENOENT, EACCES:
            KeychainError(
                .interactionNotAllowed, "no terminal is available: \(error.description)",
                hint: "use standard input or a file; --help lists the options")
        case EMSGSIZE:
            KeychainError(.dataTooLarge, "the line is longer than \(maxLineLength) bytes")
        default:
            KeychainError(.io, error.description)
        }
    }

    /// 1 MiB, without the line end.
    private static let maxLineLength = 1 << 20
}
