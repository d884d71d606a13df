// SPDX-License-Identifier: Apache-2.0

import Foundation

// One line for each package. The first wrong result ends the program.
do {
    print(try keychainStoreCheck())
    print(try secureBoxCheck())
    print(try defaultsWrapperCheck())
    print(try tokenSignerCheck())
    print(try certificateCheck())
    print(try pinnedTrustCheck())
    print(try gateKeeperCheck())
    print(try await httpClientCheck())
} catch {
    FileHandle.standardError.write(Data("sdk-app: \(error)\n".utf8))
    exit(1)
}
