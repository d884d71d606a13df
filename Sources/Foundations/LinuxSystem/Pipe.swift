// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// The two ends of a pipe, close-on-exec.
struct Pipe: ~Copyable {
    let reading: OwnedDescriptor
    let writing: OwnedDescriptor

    init() throws(SystemError) {
        var (first, last): (Int32, Int32) = (-1, -1)
        guard latchkey_pipe(&first, &last) == 0 else { throw .last("create a pipe") }
        let firstEnd = OwnedDescriptor(adopting: first)
        let lastEnd = OwnedDescriptor(adopting: last)
        let reading = try firstEnd.aboveStandardDescriptors()
        let writing = try lastEnd.aboveStandardDescriptors()
        self.reading = reading
        self.writing = writing
    }

    /// Closes the reading end and returns the writing end.
    consuming func endOfWriter() -> OwnedDescriptor { writing }

    /// Closes the writing end and returns the reading end.
    consuming func endOfReader() -> OwnedDescriptor { reading }
}

extension OwnedDescriptor {
    /// Returns the same file under a number above 2. In a process that has closed its standard
    /// input, a new pipe has number 0, and the end that a child gets as its standard output would
    /// overwrite the one for its standard input.
    fileprivate consuming func aboveStandardDescriptors() throws(SystemError) -> OwnedDescriptor {
        guard rawValue <= STDERR_FILENO else { return self }
        let number = fcntl(rawValue, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard number >= 0 else { throw .last("duplicate a descriptor") }
        return OwnedDescriptor(adopting: number)
    }
}
