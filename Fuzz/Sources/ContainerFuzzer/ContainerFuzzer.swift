// SPDX-License-Identifier: Apache-2.0

/// Fuzzes protected files and their parts; see ``ContainerInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContainers(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = ContainerInput.read(Array(UnsafeBufferPointer(start: start, count: count)))
    if let fault = outcome.fault { fatalError("\(fault), because reading is wrong") }
    return 0
}
