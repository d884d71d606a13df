// SPDX-License-Identifier: Apache-2.0

/// Fuzzes the search for secrets in files; see ``ScanInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScans(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = ScanInput.scan(Array(UnsafeBufferPointer(start: start, count: count)))
    if let fault = outcome.fault { fatalError("\(fault), because the scanner is wrong") }
    return 0
}
