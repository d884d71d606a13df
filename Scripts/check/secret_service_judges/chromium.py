# SPDX-License-Identifier: Apache-2.0
"""Chromium keeps the key of its cookies in the Secret Service, and loses the cookies if it does not find the key."""
import hashlib
import http.server
import os
import sqlite3
import threading

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from .person import Prompter
from .processes import find, run
from .provider import PASSCODE
from .world import World

COOKIE = ("session", "c00kie")


class Pages(http.server.BaseHTTPRequestHandler):
    """`/set` sets a cookie for a day; every page shows the cookies that it has received."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if self.path == "/set":
            self.send_header("Set-Cookie", f"{COOKIE[0]}={COOKIE[1]}; Max-Age=86400; Path=/")
        self.end_headers()
        self.wfile.write(f"<p>cookies: {self.headers.get('Cookie', 'none')}</p>".encode())

    def log_message(self, *_):
        """Nothing is printed."""


class Browser:
    """Chromium with one profile of a world."""

    def __init__(self, world, port):
        self.world, self.port = world, port

    def visit(self, page):
        """The text of a page."""
        words = [
            find("chromium"), "--headless", f"--user-data-dir={self.world.path('profile')}", "--no-first-run",
            "--disable-gpu", "--password-store=gnome-libsecret", "--virtual-time-budget=3000", "--dump-dom",
            f"http://127.0.0.1:{self.port}/{page}"]
        if os.geteuid() == 0 or not find("/usr/lib/chromium/chrome-sandbox"):
            words.append("--no-sandbox")
        outcome = run(words, self.world.environment)
        return outcome.output if "cookies: " in outcome.output else outcome.problem

    def stored(self):
        """The encrypted value of the cookie, as it is in the file."""
        path = os.path.join(self.world.path("profile"), "Default", "Cookies")
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            rows = database.execute("select encrypted_value from cookies where name = ?", COOKIE[:1]).fetchall()
        return rows[0][0] if rows else b""


def decrypted(value, secret):
    """The value of a cookie, by Chromium's own rule: the key follows from the secret in the keychain."""
    key = hashlib.pbkdf2_hmac("sha1", secret.encode(), b"saltysalt", 1, 16)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(b" " * 16)).decryptor()
    padded = decryptor.update(value[3:]) + decryptor.finalize()
    unpadder = PKCS7(128).unpadder()
    return (unpadder.update(padded) + unpadder.finalize())[32:].decode("utf-8", "backslashreplace")


def missing(tools):
    return None if find("chromium") else "chromium is not installed"


def chromium(context, report):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        unlocked(context, report, server.server_port)
        locked(context, report, server.server_port)
    finally:
        server.shutdown()
        server.server_close()


def unlocked(context, report, port):
    shown = f"<p>cookies: {COOKIE[0]}={COOKIE[1]}</p>"
    check = report.check
    with World(context.provider) as world:
        browser = Browser(world, port)
        check("the first start has no cookie", "<p>cookies: none</p>" in browser.visit("set"), True)
        connection = world.connect()
        items = connection.search(application="chromium")[0]
        check("the key is one item", len(items), 1)
        if not items:
            return
        check("its label", connection.get(items[0], "Item", "Label"), "Chromium Safe Storage")
        secret = connection.value(items[0])
        check("the secret is 24 characters of base64", len(secret), 24)
        value = browser.stored()
        check("the cookie is encrypted with it", value[:3], b"v11")
        check("it can be decrypted with the key of the item", decrypted(value, secret), COOKIE[1])
        check("the second start shows the cookie", shown in browser.visit("show"), True)
        world.restart()
        check("after a restart of both it shows the cookie", shown in browser.visit("show"), True)
        connection = world.connect()
        check("the key is the same", [connection.value(item) for item in connection.search(application="chromium")[0]],
              [secret])
        if context.provider.is_latchkey:
            found = run([context.provider.path("latchkey"), "list", "--json", "--label", "Chromium Safe Storage"],
                        world.environment)
            check("the key is in the user's keychain", "Chromium Safe Storage" in found.output, True)


def locked(context, report, port):
    """With a passcode, the keychain is locked when the browser starts, and the person is asked once."""
    shown = f"<p>cookies: {COOKIE[0]}={COOKIE[1]}</p>"
    person = Prompter()
    try:
        with World(context.provider, has_passcode=True) as world:
            browser = Browser(world, port)
            browser.visit("set")
            world.restart(is_locked=True)
            person.attend(world)
            person.will(PASSCODE)
            check = report.check
            check("locked, it shows the cookie after the prompt", shown in browser.visit("show"), True)
            check("the person is asked once", len(person.questions), 1)
    finally:
        person.close()
