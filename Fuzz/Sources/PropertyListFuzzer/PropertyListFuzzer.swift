// SPDX-License-Identifier: Apache-2.0

/// Fuzzes the reader of property lists; see ``PropertyListInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyLists(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = PropertyListInput.read(Array(UnsafeBufferPointer(start: start, count: count)))
    if let fault = outcome.fault { fatalError("\(fault), because the reader is wrong") }
    return 0
}
