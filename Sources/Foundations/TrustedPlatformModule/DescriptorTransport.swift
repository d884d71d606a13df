// SPDX-License-Identifier: Apache-2.0

// Its headers declare pollfd, too.
internal import CTSS2
internal import Glibc
internal import LinuxSystem

/// A device of the kernel, or a socket of swtpm. Both carry commands and responses without other
/// framing.
struct DescriptorTransport: TPMTransport {
    let address: TPMAddress

    func connect() throws(TPMError) -> any TPMConnection {
        let descriptor: OwnedDescriptor
        do throws(SystemError) {
            descriptor = try opened()
        } catch {
            switch error.code {
            case EACCES, EPERM: throw .accessDenied(address)
            case EBUSY: throw .busy
            default: throw .notFound(address)
            }
        }
        return DescriptorConnection(descriptor, address)
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
final class DescriptorConnection: TPMConnection {
    private let descriptor: OwnedDescriptor
    private let address: TPMAddress

    init(_ descriptor: consuming OwnedDescriptor, _ address: TPMAddress) {
        self.descriptor = descriptor
        self.address = address
    }

    func send(_ command: UnsafeRawBufferPointer, until deadline: UInt64) throws(TPMError) {
        var rest = command
        while !rest.isEmpty {
            // A socket whose other end was closed must not end the process by SIGPIPE.
            let count =
                address.isSoftware
                ? Glibc.send(descriptor.rawValue, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                : write(descriptor.rawValue, rest.baseAddress, rest.count)
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

    func receive(until deadline: UInt64) throws(TPMError) -> [UInt8] {
        var response: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: ResponseFrame.maxLength)
        while true {
            // A device returns at most one response, and all of it if the buffer has room.
            let limit = (try ResponseFrame.length(response) ?? ResponseFrame.maxLength) - response.count
            guard limit > 0 else { return response }
            let count = read(descriptor.rawValue, &buffer, limit)
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
