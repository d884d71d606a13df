// SPDX-License-Identifier: Apache-2.0

package import KeychainModel

/// Performs operations for one caller. The verb of each operation is an extension in its file.
package protocol OperationPerformer {
    func perform<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer
}

extension OperationPerformer {
    package func perform<Operation: KeychainOperation>(
        _ operation: Operation
    ) throws(KeychainError) -> Operation.Answer {
        try perform(operation, Exchange())
    }
}
