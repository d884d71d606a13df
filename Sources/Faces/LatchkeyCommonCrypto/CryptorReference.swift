// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

extension CCCryptorRef {
    /// Creates a reference that keeps `cipher` alive until ``freeCipher()``.
    init(owning cipher: BlockCipher) {
        self.init(Unmanaged.passRetained(cipher).toOpaque())
    }

    /// The cipher passed to ``init(owning:)``.
    var cipher: BlockCipher { unmanaged.takeUnretainedValue() }

    func freeCipher() { unmanaged.release() }

    private var unmanaged: Unmanaged<BlockCipher> { Unmanaged.fromOpaque(UnsafeRawPointer(self)) }
}

extension BlockCipher {
    /// - Parameter vector: A pointer to one block.
    convenience init(_ request: CipherRequest, key: UnsafeRawBufferPointer, vector: UnsafeRawPointer?) throws(Refusal) {
        let vector = vector.map { UnsafeRawBufferPointer(start: $0, count: request.kind.blockByteCount) }
        do throws(CipherError) {
            try self.init(request.kind, request.direction, isPadded: request.isPadded, key: key, vector: vector)
        } catch {
            throw Refusal(error)
        }
    }

    func update(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) throws(Refusal) -> Int {
        do throws(CipherError) { return try update(with: input, into: output) } catch { throw Refusal(error) }
    }

    func finish(_ output: UnsafeMutableRawBufferPointer) throws(Refusal) -> Int {
        do throws(CipherError) { return try finish(into: output) } catch { throw Refusal(error) }
    }
}

/// Runs `body` and reports the number of bytes it wrote or requires, and returns its status.
func moving(_ moved: UnsafeMutablePointer<Int>?, _ body: () throws(Refusal) -> Int) -> CCCryptorStatus {
    do throws(Refusal) {
        let count = try body()
        moved?.pointee = count
        return status(kCCSuccess)
    } catch {
        moved?.pointee = error.needed ?? 0
        return error.status
    }
}
