# SPDX-License-Identifier: Apache-2.0
"""The steps of libsecret's own interface, through PyGObject. The argument `--latchkey` is for Latchkey."""
import os
import subprocess

import gi

gi.require_version("Secret", "1")
from gi.repository import GLib, Secret  # noqa: E402 (after require_version)

import steps  # noqa: E402
from steps import check  # noqa: E402

TYPES = Secret.SchemaAttributeType
SCHEMA = Secret.Schema.new("org.example.Steps", Secret.SchemaFlags.NONE, {
    "name": TYPES.STRING, "number": TYPES.INTEGER, "even": TYPES.BOOLEAN})
OTHER = Secret.Schema.new("org.example.Other", Secret.SchemaFlags.NONE, {"name": TYPES.STRING})
LOOSE = Secret.Schema.new("org.example.Loose", Secret.SchemaFlags.DONT_MATCH_NAME, {"name": TYPES.STRING})


def attributes(number):
    return {"name": "steps", "number": str(number), "even": "true" if number % 2 == 0 else "false"}


def store(number, secret, collection=Secret.COLLECTION_DEFAULT):
    return Secret.password_store_sync(SCHEMA, attributes(number), collection, f"Label {number}", secret, None)


def lookup(attributes, schema=SCHEMA):
    return Secret.password_lookup_sync(schema, attributes, None)


check("password_store_sync", store(1, "one"), True)
check("password_lookup_sync", lookup({"number": "1"}), "one")
check("by a truth value", lookup({"even": "false"}), "one")
check("lookup without a match", lookup({"number": "2"}), None)
check("lookup with another schema", lookup({"name": "steps"}, OTHER), None)
check("lookup with a schema that does not count", lookup({"name": "steps"}, LOOSE), "one")
check("store replaces", (store(1, "new"), lookup({"number": "1"})), (True, "new"))
check("store another", store(2, "two"), True)
everything = Secret.SearchFlags.ALL | Secret.SearchFlags.UNLOCK
found = Secret.password_search_sync(SCHEMA, {"name": "steps"}, everything, None)
check("password_search_sync", sorted(item.get_label() for item in found), ["Label 1", "Label 2"])
check("its secrets", sorted(item.retrieve_secret_sync(None).get_text() for item in found), ["new", "two"])
check("its attributes", sorted(item.get_attributes()["number"] for item in found), ["1", "2"])
check("its schema", {item.get_schema_name() for item in found}, {"org.example.Steps"})
check("password_clear_sync", Secret.password_clear_sync(SCHEMA, {"number": "2"}, None), True)
check("clear without a match", Secret.password_clear_sync(SCHEMA, {"number": "2"}, None), False)
check("the other is there", lookup({"name": "steps"}), "new")

value = Secret.Value.new("a\n\x01b", 4, "application/octet-stream")
check("password_store_binary_sync", Secret.password_store_binary_sync(
    SCHEMA, attributes(3), Secret.COLLECTION_DEFAULT, "binary", value, None), True)
found = Secret.password_search_sync(SCHEMA, {"number": "3"}, Secret.SearchFlags.NONE, None)[0]
binary = found.retrieve_secret_sync(None)
check("its bytes", bytes(binary.get()), b"a\n\x01b")
# gnome-keyring does not keep the type.
check("its type", binary.get_content_type(), "application/octet-stream", gnome_keyring="text/plain")
check("store in the collection session", store(4, "four", Secret.COLLECTION_SESSION), True)
check("lookup in it", lookup({"number": "4"}), "four")

flags = Secret.ServiceFlags
service = Secret.Service.get_sync(flags.OPEN_SESSION | flags.LOAD_COLLECTIONS, None)
check("the algorithm of the session", service.get_session_algorithms(), "dh-ietf1024-sha256-aes128-cbc-pkcs7")
check("the collections", sorted(found.get_object_path().rsplit("/", 1)[-1] for found in service.get_collections()),
      ["login", "session"])
collection = Secret.Collection.for_alias_sync(service, "default", Secret.CollectionFlags.LOAD_ITEMS, None)
check("the default collection", collection.get_label(), "Login")
check("it is not locked", collection.get_locked(), False)
check("its items", sorted(item.get_label() for item in collection.get_items()), ["Label 1", "binary"])

item = Secret.Item.create_sync(
    collection, SCHEMA, attributes(5), "five", Secret.Value.new("5", -1, "text/plain"), Secret.ItemCreateFlags.NONE,
    None)
check("Item.create_sync", item.get_label(), "five")
check("Item.set_label_sync", item.set_label_sync("six", None), True)
check("Item.set_attributes_sync", item.set_attributes_sync(SCHEMA, attributes(6), None), True)
check("Item.set_secret_sync", item.set_secret_sync(Secret.Value.new("6", -1, "text/plain"), None), True)
check("the changed item", lookup({"number": "6"}), "6")
check("it is not found as before", lookup({"number": "5"}), None)
again = service.search_sync(SCHEMA, {"number": "6"}, Secret.SearchFlags.LOAD_SECRETS, None)[0]
check("Service.search_sync", (again.get_label(), again.get_secret().get_text(), again.get_attributes()["number"]),
      ("six", "6", "6"))
check("Item.delete_sync", item.delete_sync(None), True)
check("it is gone", lookup({"number": "6"}), None)


def waited(object, signal, change, has_changed=lambda: True):
    """Whether the object says that it has changed. An earlier change may be announced late."""
    loop = GLib.MainLoop()
    seen = []

    def told(*_):
        if has_changed():
            seen.append(True)
            loop.quit()

    number = object.connect(signal, told)
    timer = GLib.timeout_add_seconds(60, loop.quit)
    change()
    loop.run()
    object.disconnect(number)
    if seen:
        GLib.source_remove(timer)
    return bool(seen)


for turn in ["a", "another"]:
    check(f"a collection shows {turn} new item", waited(collection, "notify::items", lambda: store(8, "eight")), True)
    check(f"and {turn} deleted one", waited(
        collection, "notify::items", lambda: Secret.password_clear_sync(SCHEMA, {"number": "8"}, None)), True)

if "LATCHKEY" in os.environ:
    def latchkey(*words):
        subprocess.run([os.environ["LATCHKEY"], *words], input=b"x", check=True, stderr=subprocess.DEVNULL)

    login = [found for found in service.get_collections() if found.get_object_path().endswith("/login")][0]
    login.load_items_sync(None)

    def is_shown():
        return "other.example.com" in [item.get_label() for item in login.get_items()]

    for turn in ["a", "another"]:
        check(f"a collection shows {turn} new item of `latchkey` with its label", waited(
            login, "notify::items", lambda: latchkey("set", "other.example.com/alice"), is_shown), True)
        check(f"and not {turn} one that `latchkey` has deleted", waited(
            login, "notify::items", lambda: latchkey("rm", "--force", "other.example.com/alice"),
            lambda: not is_shown()), True)

if steps.IS_LATCHKEY:
    # gnome-keyring asks for a password of the new collection.
    work = Secret.Collection.create_sync(service, "Work", None, Secret.CollectionCreateFlags.NONE, None)
    check("Collection.create_sync", work.get_label(), "Work")
    check("store in it", store(9, "nine", work.get_object_path()), True)
    check("lookup in it", lookup({"number": "9"}), "nine")
    check("Collection.set_label_sync", work.set_label_sync("Labour", None), True)
    check("Collection.delete_sync", work.delete_sync(None), True)
    check("its items are deleted", lookup({"number": "9"}), None)
steps.end()
