// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Fuzzes the data that the daemon reads about callers; see ``CallerInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCallers(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let fault = CallerInput.read(bytes, in: TemporaryLocation.directory).fault {
        fatalError("\(fault), because a parser is wrong")
    }
    return 0
}

private enum TemporaryLocation {
    /// A directory in memory, because a fuzzer writes some thousand files a second.
    static let directory: String = {
        var template = Array("/dev/shm/latchkey-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            fatalError("cannot create a temporary directory, because /dev/shm is not writable")
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
}
