// SPDX-License-Identifier: Apache-2.0

/// Fuzzes pins, domains, public suffixes and App Transport Security settings; see
/// ``TransportInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTransport(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = TransportInput.read(Array(UnsafeBufferPointer(start: start, count: count)))
    if let fault = outcome.fault { fatalError("\(fault), because the reader is wrong") }
    return 0
}
