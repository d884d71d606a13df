// SPDX-License-Identifier: Apache-2.0

/// Fuzzes restoring backups from untrusted files; see ``BackupInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBackups(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        let outcome = try BackupInput.restore(Array(UnsafeBufferPointer(start: start, count: count)))
        if let fault = outcome.fault { fatalError("\(fault), because restore is wrong") }
    } catch {
        fatalError("cannot create a store to restore into, because of \(error)")
    }
    return 0
}
