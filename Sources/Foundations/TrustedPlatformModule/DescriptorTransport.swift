// SPDX-License-Identifier: Apache-2.0

// Its headers declare pollfd, too.
internal import CTSS2
internal import Glibc
internal import LinuxSystem

/// A device of the kernel, or a socket of swtpm. Both carry commands and responses without other
/// framing.
struct DescriptorTransport: TPMTransport {
    let address: TPMAddress

    func connect() throws(TPMError) -> any TPMConnection { try DescriptorConnection(self) }

    fileprivate func open() throws(TPMError) -> OwnedDescriptor {
        do throws(SystemError) {
            return try opened()
        } catch {
            switch error.code {
            case EACCES, EPERM: throw .accessDenied(address)
            case EBUSY: throw .busy
            default: throw .notFound(address)
            }
        }
    }

    private func opened() throws(SystemError) -> OwnedDescriptor {
        switch address {
        case .device(let path):
            let descriptor = try OwnedDescriptor(opening: path, flags: O_RDWR | O_NONBLOCK | O_NOCTTY)
            var status = stat()
            guard fstat(descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
                throw SystemError("open", path: path, code: ENODEV)
            }
            return descriptor
        case .socket(let path): return try Self.connected(AF_UNIX, try Self.address(path), path)
        case .port(let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return try Self.connected(AF_INET, address, "127.0.0.1:\(port)")
        }
    }

    private static func address(_ path: String) throws(SystemError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { buffer -> Bool in
            let bytes = Array(path.utf8)
            guard bytes.count < buffer.count else { return false }
            buffer.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw SystemError("connect to", path: path, code: ENAMETOOLONG) }
        return address
    }

    private static func connected<Address>(
        _ family: Int32, _ address: Address, _ name: String
    ) throws(SystemError) -> OwnedDescriptor {
        let number = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last("create a socket for", path: name) }
        let descriptor = OwnedDescriptor(adopting: number)
        let status = withUnsafeBytes(of: address) {
            $0.withMemoryRebound(to: sockaddr.self) {
                Glibc.connect(descriptor.rawValue, $0.baseAddress, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard status == 0 else { throw .last("connect to", path: name) }
        guard fcntl(descriptor.rawValue, F_SETFL, O_NONBLOCK) == 0 else { throw .last("configure", path: name) }
        return descriptor
    }
}

/// An open device or socket.
///
/// swtpm with the option `disconnect`, as tpm2-tss uses it, closes the connection after each
/// response, and keeps its objects and sessions. Then each command has a connection of its own.
final class DescriptorConnection: TPMConnection {
    private let transport: DescriptorTransport
    private var descriptor: OwnedDescriptor
    /// Whether the other end closes the connection after each response; nil before that is known.
    private var endsWithResponse: Bool?
    /// Whether the other end has closed the connection after its response.
    private var isSpent = false

    private var address: TPMAddress { transport.address }

    init(_ transport: DescriptorTransport) throws(TPMError) {
        self.transport = transport
        descriptor = try transport.open()
        endsWithResponse = transport.address.isSoftware ? nil : false
    }

    func send(_ command: UnsafeRawBufferPointer, until deadline: UInt64) throws(TPMError) {
        if isSpent {
            descriptor = try transport.open()
            isSpent = false
        }
        try write(command, until: deadline)
    }

    func receive(until deadline: UInt64) throws(TPMError) -> [UInt8] {
        let response = try read(until: deadline)
        let ends = if let endsWithResponse { endsWithResponse } else { try !answersAgain(until: deadline) }
        (endsWithResponse, isSpent) = (ends, ends)
        return response
    }

    /// Whether the other end answers a second command. The end of a connection can arrive late, so that
    /// looking for it would find it only sometimes. The command changes nothing, so that it does not matter
    /// whether one that got no answer was performed; of any other command that would be unknown.
    private func answersAgain(until deadline: UInt64) throws(TPMError) -> Bool {
        do throws(TPMError) {
            try write(command: Self.getTestResult, until: deadline)
            _ = try ResponseFrame(try read(until: deadline))
            return true
        } catch .lost {
            return false
        }
    }

    /// TPM2_GetTestResult, without sessions.
    private static let getTestResult: [UInt8] = [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x01, 0x7C]

    private func write(command: [UInt8], until deadline: UInt64) throws(TPMError) {
        let sent = command.withUnsafeBytes { bytes in
            Result { () throws(TPMError) in try write(bytes, until: deadline) }
        }
        try sent.get()
    }

    private func write(_ command: UnsafeRawBufferPointer, until deadline: UInt64) throws(TPMError) {
        var rest = command
        while !rest.isEmpty {
            // If the other end of a socket was closed, SIGPIPE must not end the process.
            let count =
                address.isSoftware
                ? Glibc.send(descriptor.rawValue, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                : Glibc.write(descriptor.rawValue, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count < 0, errno == EAGAIN {
                try wait(Int16(POLLOUT), until: deadline)
            } else if count < 0, errno == EBUSY {
                // Another process uses a device without a resource manager.
                throw .busy
            } else if count == 0 || errno != EINTR {
                throw .lost(address)
            }
        }
    }

    private func read(until deadline: UInt64) throws(TPMError) -> [UInt8] {
        var response: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: ResponseFrame.maxLength)
        while true {
            // A device returns at most one response, and all of it if the buffer has room.
            let limit = (try ResponseFrame.length(response) ?? ResponseFrame.maxLength) - response.count
            guard limit > 0 else { return response }
            let count = Glibc.read(descriptor.rawValue, &buffer, limit)
            if count > 0 {
                response += buffer.prefix(count)
            } else if count < 0, errno == EAGAIN {
                try wait(Int16(POLLIN), until: deadline)
            } else if count == 0 || errno != EINTR {
                throw .lost(address)
            }
        }
    }

    private func wait(_ events: Int16, until deadline: UInt64) throws(TPMError) {
        while true {
            let now = BootClock.system.now()
            let rest = deadline > now ? (deadline - now) / 1_000_000 + 1 : 0
            var request = pollfd(fd: descriptor.rawValue, events: events, revents: 0)
            let count = poll(&request, 1, Int32(clamping: rest))
            // After a suspension the deadline has passed; a response that is there is still read.
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw .lost(address) }
            if count == 0, rest == 0 { throw .notResponding(address) }
        }
    }
}
