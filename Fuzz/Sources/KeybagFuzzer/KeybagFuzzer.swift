// SPDX-License-Identifier: Apache-2.0

/// Fuzzes the records of keybags and of constraints; see ``KeybagInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeybags(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        let outcome = try KeybagInput.decode(Array(UnsafeBufferPointer(start: start, count: count)))
        if let fault = outcome.fault { fatalError("\(fault), because decoding is wrong") }
    } catch {
        fatalError("cannot create a keychain, because of \(error)")
    }
    return 0
}
