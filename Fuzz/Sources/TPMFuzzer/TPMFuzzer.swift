// SPDX-License-Identifier: Apache-2.0

/// Fuzzes the responses of a TPM, its stored objects, and the messages of an attestation; see
/// ``TPMInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTPM(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let outcome = TPMInput.read(Array(UnsafeBufferPointer(start: start, count: count)))
    if let fault = outcome.fault { fatalError("\(fault), because reading is wrong") }
    return 0
}
