// SPDX-License-Identifier: Apache-2.0

/// Fuzzes keyrings of gnome-keyring and their parts; see ``KeyringInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeyrings(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = KeyringInput.read(Array(UnsafeBufferPointer(start: start, count: count)))
    if let fault = outcome.fault { fatalError("\(fault), because reading is wrong") }
    return 0
}
