// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The operations on a user's keychain in its home that work even if it cannot be opened.
struct HomeRescue: KeychainRescue {
    let provider: HomeProvider
    let keychain: UserKeychain

    func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        try provider.rescuing(keychain) { (home, ownership, slot) throws(KeychainError) in
            // The recovery key is verified before the keychain is closed.
            let lost = try ClosedKeychain.recover(
                home: home, key: key, newPasscode: nil, clocks: provider.clocks, ownership: ownership,
                hardware: provider.hardware)
            guard newPasscode != nil else { return lost }
            return try slot.whileClosed { () throws(KeychainError) in
                try ClosedKeychain.recover(
                    home: home, key: key, newPasscode: newPasscode, clocks: provider.clocks, ownership: ownership,
                    hardware: provider.hardware)
            }
        }
    }

    func resealRoot(with code: SharedSecret) throws(KeychainError) {
        try provider.rescuing(keychain) { (home, ownership, slot) throws(KeychainError) in
            try slot.whileClosed { () throws(KeychainError) in
                try ClosedKeychain.reseal(
                    home: home, code: code, ownership: ownership, hardware: provider.hardware)
            }
        }
    }

    func diagnose(_ problem: KeychainError) throws(KeychainError) -> [KeychainFinding] {
        let (mode, home) = try provider.modeAndHome(for: keychain)
        guard let home else { throw problem }
        return ClosedKeychain.diagnose(problem, home: home, hardware: provider.hardware, mode: mode)
    }
}
