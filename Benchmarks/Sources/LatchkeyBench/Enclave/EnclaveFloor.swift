// SPDX-License-Identifier: Apache-2.0

import CEnclaveFloor

/// A key in a TPM, used with tpm2-tss's own calls.
final class EnclaveFloor {
    private let floor: OpaquePointer
    private var result = [UInt8](repeating: 0, count: 64)

    /// Waits until the TPM has no other connection: swtpm serves one at a time.
    init(_ address: String, hasSession: Bool) throws {
        var floor: OpaquePointer?
        let code = enclave_floor_open(address, hasSession ? 1 : 0, &floor)
        guard code == 0, let floor else { throw Self.failure("open", code) }
        self.floor = floor
    }

    deinit { enclave_floor_close(floor) }

    func run(_ operation: EnclaveOperation) throws {
        let code =
            switch operation {
            case .sign: enclave_floor_sign(floor, Self.digest, &result)
            case .agree: enclave_floor_agree(floor, &result)
            }
        guard code == 0 else { throw Self.failure(operation.rawValue, code) }
    }

    private static func failure(_ call: String, _ code: UInt32) -> BenchmarkFailure {
        BenchmarkFailure("tpm2-tss, \(call): response code 0x\(String(code, radix: 16))")
    }

    private static let digest = [UInt8](repeating: 0x5A, count: 32)
}

/// The measured operations of a TPM key.
enum EnclaveOperation: String, CaseIterable { case sign, agree }
