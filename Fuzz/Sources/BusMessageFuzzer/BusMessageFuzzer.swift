// SPDX-License-Identifier: Apache-2.0

/// Fuzzes the data that programs send to the Secret Service; see ``BusMessageInput``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBusMessages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    if bus?.isOpen != true { bus = WireBus() }
    guard let bus else { return 0 }
    let outcome = BusMessageInput.read(Array(UnsafeBufferPointer(start: start, count: count)), on: bus)
    if let fault = outcome.fault { fatalError("\(fault), because reading is wrong") }
    return 0
}

// Unchecked, because libFuzzer calls from one thread. A content that libsystemd refuses ends the
// connection.
nonisolated(unsafe) private var bus: WireBus?
