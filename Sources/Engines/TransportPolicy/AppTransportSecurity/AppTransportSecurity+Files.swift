// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

// Where the property list of a program is.

extension AppTransportSecurity {
    /// Reads the settings of the `Info.plist` in the directory of this process's executable, as the
    /// bundle of a program has it; ``strict`` if there is no such file.
    ///
    /// - Throws: if the file exists and cannot be read as a property list. The program must then make
    ///   no connections: the file may have required pins.
    public static func besideProgram() throws(TransportPolicyError) -> ATSReading {
        guard let executable = ProcessDirectory(getpid()).executable else {
            throw TransportPolicyError("the path of this program's executable is not known")
        }
        return try reading(beside: executable)
    }

    /// Reads the settings of a property list that the program names.
    ///
    /// - Throws: if the file does not exist, or cannot be read as a property list.
    public static func reading(file path: String) throws(TransportPolicyError) -> ATSReading {
        guard let bytes = try bytes(of: path) else {
            throw TransportPolicyError("the property list \(path.quoted) does not exist")
        }
        return try reading(bytes, path)
    }

    static func reading(beside executable: String) throws(TransportPolicyError) -> ATSReading {
        let directory = executable.lastIndex(of: "/").map { executable[..<$0] } ?? "."
        let path = "\(directory)/Info.plist"
        // A dangling symbolic link counts as existing.
        guard faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT else {
            return ATSReading(settings: .strict, findings: [])
        }
        return try reading(file: path)
    }

    private static func reading(_ bytes: [UInt8], _ path: String) throws(TransportPolicyError) -> ATSReading {
        do throws(TransportPolicyError) { return try reading(infoPlist: bytes) } catch {
            throw TransportPolicyError("\(path): \(error.problem)", hint: error.hint)
        }
    }

    private static func bytes(of path: String) throws(TransportPolicyError) -> [UInt8]? {
        do throws(SystemError) { return try BoundedFile.read(path, limit: maxLength) } catch {
            throw TransportPolicyError(error.description)
        }
    }
}
