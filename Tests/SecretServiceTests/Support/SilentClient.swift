// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainTesting
import LinuxSystem
import SystemBus

/// A program on the bus that sends calls, or parts of them, and never reads anything. It ends with the last
/// reference to it.
final class SilentClient {
    private let socket: Socket
    private var number: UInt32 = 1

    init(_ bus: PrivateBus) throws {
        socket = try Socket(connectingTo: String(bus.address.dropFirst("unix:path=".count)))
        // The user is authenticated by the kernel; the number is in hexadecimal digits of its ASCII form.
        let user = String(geteuid()).utf8.map { String($0, radix: 16) }.joined()
        try send([0] + Array("AUTH EXTERNAL \(user)\r\nBEGIN\r\n".utf8))
        try send(
            RawMessage.call(
                "org.freedesktop.DBus", "Hello", at: "/org/freedesktop/DBus", of: "org.freedesktop.DBus",
                number: number))
    }

    /// Opens a session without encryption.
    func openPlain() throws {
        // A text, and a variant: the type of its content, and after padding an empty text.
        let content = RawMessage.text("plain") + [1, UInt8(ascii: "s"), 0] + [0, 0, 0] + RawMessage.text("")
        try call("Service", "OpenSession", at: SecretClient.service, signature: "sv", content)
    }

    func getSecret(_ item: ObjectPath, session: ObjectPath) throws {
        try call("Item", "GetSecret", at: item, signature: "o", RawMessage.text(session.text))
    }

    /// Asks to unlock the objects of any number of paths.
    func unlock(_ paths: [String]) throws {
        // The elements of an array of paths are aligned to four bytes, as the array itself.
        let elements = paths.reduce(into: [UInt8]()) { bytes, path in
            bytes += [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4) + RawMessage.text(path)
        }
        let content = RawMessage.little(UInt32(elements.count)) + elements
        try call("Service", "Unlock", at: SecretClient.service, signature: "ao", content)
    }

    /// Searches for all items.
    func search() throws {
        // No entries, and the padding before the first one.
        let content = RawMessage.little(UInt32(0)) + [0, 0, 0, 0]
        try call("Service", "SearchItems", at: SecretClient.service, signature: "a{ss}", content)
    }

    /// Sends a part of a call, and nothing more.
    func sendHalfACall() throws {
        let content = RawMessage.text("default")
        let whole = message("Service", "ReadAlias", at: SecretClient.service, signature: "s", content)
        try send(Array(whole.prefix(whole.count / 2)))
    }

    private func call(
        _ interface: String, _ member: String, at path: ObjectPath, signature: String, _ content: [UInt8]
    ) throws {
        try send(message(interface, member, at: path, signature: signature, content))
    }

    private func message(
        _ interface: String, _ member: String, at path: ObjectPath, signature: String, _ content: [UInt8]
    ) -> [UInt8] {
        number += 1
        return RawMessage.call(
            "org.freedesktop.Secret.\(interface)", member, at: path.text, of: SecretClient.name.text, number: number,
            signature: signature, content)
    }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = rest.dropFirst(try rest.withUnsafeBytes { try socket.send($0) }) }
    }
}
