// SPDX-License-Identifier: Apache-2.0

/// Fuzzes sequences of requests to a filled keychain; see ``RequestInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequests(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        let input = try RequestInput(Array(UnsafeBufferPointer(start: start, count: count)))
        if let fault = try input.run() { fatalError("\(fault), because an operation is wrong") }
    } catch {
        fatalError("cannot create a keychain, because of \(error)")
    }
    return 0
}
