// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeyServices
internal import KeychainModel

/// The algorithm of an operation with a key.
struct AlgorithmOption: ParsableArguments {
    @Option(
        name: [.customShort("a"), .customLong("algorithm")],
        help: ArgumentHelp("The algorithm.", valueName: "algorithm"))
    var name: String?

    /// Returns the named algorithm, or the default for the kind of key.
    func algorithm(for kind: KeyKind, _ operation: KeyOperation) throws(CommandFailure) -> KeyAlgorithm {
        guard let name else { return AlgorithmName.defaultAlgorithm(for: kind, operation) }
        return try AlgorithmName.algorithm(name)
    }
}
