// SPDX-License-Identifier: Apache-2.0

import SharedItems

@main
struct Mailbox {
    static func main() { SharedItems.run(CommandLine.arguments.dropFirst()) }
}
