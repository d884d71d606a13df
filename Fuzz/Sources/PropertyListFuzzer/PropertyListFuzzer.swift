// SPDX-License-Identifier: Apache-2.0

/// Property lists as anybody may write them; see ``PropertyListInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyLists(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = PropertyListInput.read(Array(UnsafeBufferPointer(start: start, count: count)))
    if let fault = outcome.fault { fatalError("\(fault), because the reader is wrong") }
    return 0
}
