# SPDX-License-Identifier: Apache-2.0
"""The steps of secretstorage. Arguments: `plain` or `dh`, and `--latchkey` for Latchkey."""
import sys

import secretstorage
import steps
from secretstorage import collection as collections
from secretstorage import item as items
from secretstorage import util
from secretstorage.exceptions import ItemNotFoundException
from steps import check, raises

MODE = sys.argv[1]
SERVICE = "/org/freedesktop/secrets"
SESSIONS = 1 if MODE == "plain" else 600


def open_plain(connection):
    """A session without encryption; secretstorage itself opens one only where there is no other."""
    session = util.Session()
    service = util.DBusAddressWrapper(SERVICE, util.SERVICE_IFACE, connection)
    _, session.object_path = service.call("OpenSession", "sv", "plain", ("s", ""))
    session.encrypted = False
    return session


if MODE == "plain":
    for module in (util, collections, items):
        if hasattr(module, "open_session"):
            module.open_session = open_plain

connection = secretstorage.dbus_init()
check("the service is available", secretstorage.check_service_availability(connection), True)
collection = secretstorage.get_default_collection(connection)
check("the label of the default collection", collection.get_label(), "Login")
check("it is not locked", collection.is_locked(), False)
check("ensure_not_locked", collection.ensure_not_locked(), None)
check("there are no items", list(collection.get_all_items()), [])

attributes = {"application": "steps", "number": "1", "Größe": "世界"}
item = collection.create_item("Label ü", attributes, b"s3cret", content_type="text/plain")
check("create_item and get_secret", item.get_secret(), b"s3cret")
check("the session is encrypted", item.session.encrypted, MODE == "dh")
check("get_label", item.get_label(), "Label ü")


def own(item):
    return {name: value for name, value in item.get_attributes().items() if name != "xdg:schema"}


check("get_attributes", own(item), attributes)
check("the type of the content", item.get_secret_content_type(), "text/plain")
check("it is not locked", item.is_locked(), False)
check("dates", 0 < item.get_created() <= item.get_modified(), True)
found = collection.search_items({"number": "1"})
check("search_items of the collection", [item.item_path for item in found], [item.item_path])
found = secretstorage.search_items(connection, {"number": "1"})
check("search_items of the service", [item.get_label() for item in found], ["Label ü"])
check("search_items without a match", list(collection.search_items({"number": "2"})), [])

item.set_label("Other")
check("set_label", item.get_label(), "Other")
item.set_secret(bytes(range(256)), "application/octet-stream")
check("set_secret of every byte", item.get_secret(), bytes(range(256)))
# gnome-keyring does not keep the type.
check(
    "the type of that content", item.get_secret_content_type(), "application/octet-stream", gnome_keyring="text/plain")
item.set_attributes({"application": "steps", "number": "7"})
check("set_attributes", own(item), {"application": "steps", "number": "7"})
check("found by the new attributes", len(list(collection.search_items({"number": "7"}))), 1)
check("not found by the old ones", len(list(collection.search_items({"number": "1"}))), 0)

replaced = collection.create_item("Third", {"application": "steps", "number": "7"}, b"new", replace=True)
check("replace changes the item", replaced.item_path, item.item_path)
check("its secret is the new one", item.get_secret(), b"new")
second = collection.create_item("Fourth", {"application": "steps", "number": "7"}, b"twin")
check("without replace there are two items", len(list(collection.search_items({"number": "7"}))), 2)
for size in (0, 1, 15, 16, 17, 1_000_000):
    second.set_secret(b"s" * size)
    check(f"a secret of {size} bytes", len(second.get_secret()), size)
# A key that begins with zeros is one of 256; about one session in 128 has one on either side.
second.set_secret(b"short")
right = 0
for _ in range(SESSIONS):
    found = secretstorage.Item(connection, second.item_path, util.open_session(connection))
    right += found.get_secret() == b"short"
check(f"{SESSIONS} sessions", right, SESSIONS)
second.delete()
check("delete", len(list(collection.get_all_items())), 1)
raises("a deleted item", ItemNotFoundException, second.get_label)

check("there are collections", sorted(found.collection_path.rsplit("/", 1)[-1]
      for found in secretstorage.get_all_collections(connection)), ["login", "session"])
session = secretstorage.Collection(connection, f"{SERVICE}/collection/session")
brief = session.create_item("brief", {"brief": "1"}, b"x")
found = session.search_items({"brief": "1"})
check("an item of the collection session", [item.get_secret() for item in found], [b"x"])
brief.delete()
raises("a collection that does not exist", ItemNotFoundException,
       lambda: secretstorage.get_collection_by_alias(connection, "nothing"))
check("get_any_collection", secretstorage.get_any_collection(connection).is_locked(), False)
item.delete()
check("there are no items at the end", list(collection.get_all_items()), [])
if steps.IS_LATCHKEY:
    # gnome-keyring asks for a password of the new collection.
    work = secretstorage.create_collection(connection, "Work")
    check("create_collection", work.get_label(), "Work")
    work.create_item("a", {"in": "work"}, b"x")
    found = work.search_items({"in": "work"})
    check("an item of it", [item.get_secret() for item in found], [b"x"])
    check("it is in no other collection", list(collection.search_items({"in": "work"})), [])
    work.set_label("Labour")
    check("its new label", work.get_label(), "Labour")
    check("delete a collection", work.delete(), None)
    check("its items are deleted", list(secretstorage.search_items(connection, {"in": "work"})), [])
connection.close()
steps.end()
