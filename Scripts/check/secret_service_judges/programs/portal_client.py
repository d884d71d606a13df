# SPDX-License-Identifier: Apache-2.0
"""An application that asks the portal for its secret, and prints the response and the secret. The argument is the token
of the request."""
import os
import sys

from jeepney import DBusAddress, MatchRule, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

connection = open_dbus_connection(bus=os.environ["DBUS_SESSION_BUS_ADDRESS"], enable_fds=True)
token = sys.argv[1]
handle = f"/org/freedesktop/portal/desktop/request/{connection.unique_name[1:].replace('.', '_')}/{token}"
rule = MatchRule(type="signal", interface="org.freedesktop.portal.Request", member="Response", path=handle)
portal = DBusAddress(
    "/org/freedesktop/portal/desktop", bus_name="org.freedesktop.portal.Desktop",
    interface="org.freedesktop.portal.Secret")
connection.send_and_get_reply(message_bus.AddMatch(rule))
reading, writing = os.pipe()
with connection.filter(rule, bufsize=1) as queue:
    message = new_method_call(portal, "RetrieveSecret", "ha{sv}", (writing, {"handle_token": ("s", token)}))
    reply = connection.send_and_get_reply(message, timeout=60)
    os.close(writing)
    if reply.header.message_type == MessageType.error:
        sys.exit(f"{reply.header.fields.get(4)}: {reply.body}")
    response = connection.recv_until_filtered(queue, timeout=60).body[0]
secret = b""
while part := os.read(reading, 4096):
    secret += part
print(response, secret.hex())
