// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxSystem

/// Runs `body` with errors of the system as those of a file.
package func mapSystemErrors<Value: ~Copyable>(
    _ body: () throws(SystemError) -> Value
) throws(FileProtectionError) -> Value {
    try withErrors(as: FileProtectionError.system, body)
}

extension OwnedDescriptor {
    /// Returns a second descriptor of the same open file.
    package borrowing func duplicate() throws(FileProtectionError) -> OwnedDescriptor {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(.last("open a second time")) }
        return OwnedDescriptor(adopting: copy)
    }
}
