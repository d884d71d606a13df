# SPDX-License-Identifier: Apache-2.0
"""The person who is asked for a passcode: at a terminal, where pinentry asks, or by the desktop's prompter."""
import base64
import collections
import fcntl
import os
import pty
import re
import select
import struct
import termios
import threading
import time

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.padding import PKCS7
from jeepney import DBusAddress, MessageType, new_error, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from .processes import eventually

# Answers beside the text that is typed.
CANCEL = object()
# The question stays open until the program that asks ends it.
WAIT = object()


class Later:
    """A text that is typed after some seconds."""

    def __init__(self, seconds, text):
        self.seconds, self.text = seconds, text


class Person:
    """Answers questions one after the other; a question without an answer is cancelled."""

    def __init__(self):
        self.answers = collections.deque()
        self.questions = []
        self.is_open = False

    def will(self, *answers):
        self.answers = collections.deque(answers)
        self.questions = []

    def next_answer(self, question):
        self.questions.append(question)
        self.is_open = True
        return self.answers.popleft() if self.answers else CANCEL

    def is_asked(self, count=1):
        """Waits for this many questions."""
        return bool(eventually(lambda: len(self.questions) >= count))

    def is_left_alone(self):
        """Waits until no question is open."""
        return bool(eventually(lambda: not self.is_open))


class Terminal(Person):
    """A terminal of 24 lines for pinentry. `device` is the descriptor for the program that asks."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.main, self.device = pty.openpty()
        fcntl.ioctl(self.device, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.shown = b""
        self.is_ended = False
        self.thread = threading.Thread(target=self._attend, daemon=True)
        self.thread.start()

    @property
    def environment(self):
        return {"TERM": "xterm" if self.kind == "pinentry-curses" else "dumb"}

    def attend(self, world):
        """The thread has begun already."""

    def close(self):
        if self.is_ended:
            return
        self.is_ended = True
        self.thread.join()
        os.close(self.main)
        os.close(self.device)

    @property
    def _echoes(self):
        return bool(termios.tcgetattr(self.device)[3] & termios.ECHO)

    def _read(self):
        while select.select([self.main], [], [], 0.005)[0]:
            self.shown += os.read(self.main, 65536)

    def _attend(self):
        while not self.is_ended:
            self._read()
            # The prompt's label is shown, and the typed text is not.
            text = re.sub(rb"\x1b[\[(][0-9;?]*[A-Za-z]", b"", self.shown)
            if not re.search(rb"(?i)passcode\s*:", text) or self._echoes:
                continue
            answer = self.next_answer(text.decode("utf-8", "replace"))
            if isinstance(answer, Later):
                time.sleep(answer.seconds)
                answer = answer.text
            if answer is CANCEL:
                os.write(self.main, b"\t\t\r" if self.kind == "pinentry-curses" else b"\x04")
            elif answer is not WAIT:
                os.write(self.main, answer.encode() + b"\r")
            while not self._echoes and not self.is_ended:
                self._read()
            self.shown = b""
            self.is_open = False


# The group of 1536 bits of RFC 3526, section 2.
PRIME = int("""
FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B
302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE6
49286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB9ED529077096966D
670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF""".replace("\n", ""), 16)
LENGTH = 192


class Exchange:
    """The encryption of the typed text: gcr's `sx-aes-1`."""

    def __init__(self):
        self.private = int.from_bytes(os.urandom(LENGTH), "big") % PRIME

    def begin(self):
        public = pow(2, self.private, PRIME).to_bytes(LENGTH, "big")
        return f"[sx-aes-1]\npublic={base64.b64encode(public).decode()}\n"

    def send(self, received, text):
        """The reply to the message of the program that asks."""
        peer = int.from_bytes(base64.b64decode(re.search(r"(?m)^public=(\S+)$", received)[1]), "big")
        shared = pow(peer, self.private, PRIME).to_bytes(LENGTH, "big")
        key = HKDF(SHA256(), 16, None, b"").derive(shared)
        vector = os.urandom(16)
        padder = PKCS7(128).padder()
        padded = padder.update(text.encode()) + padder.finalize()
        encryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
        secret = encryptor.update(padded) + encryptor.finalize()
        fields = {"secret": secret, "iv": vector}
        return self.begin() + "".join(f"{name}={base64.b64encode(value).decode()}\n" for name, value in fields.items())


class Prompter(Person):
    """The desktop's prompter, `org.gnome.keyring.SystemPrompter`, for both providers."""

    NAME = "org.gnome.keyring.SystemPrompter"
    kind = "prompter"
    device = None
    environment = {}

    def __init__(self):
        super().__init__()
        self.connection = None
        self.is_ended = False
        self.exchanges = {}
        self.thread = threading.Thread(target=self._attend, daemon=True)

    def attend(self, world):
        self.connection = open_dbus_connection(bus=world.bus.address)
        self.connection.send_and_get_reply(message_bus.RequestName(self.NAME))
        self.thread.start()

    def close(self):
        self.is_ended = True
        if self.thread.is_alive():
            self.thread.join()
        if self.connection:
            self.connection.close()

    def _attend(self):
        while not self.is_ended:
            try:
                message = self.connection.receive(timeout=0.05)
            except TimeoutError:
                continue
            except ConnectionError:
                return
            if message.header.message_type == MessageType.method_call:
                self._answer(message)

    def _answer(self, message):
        fields = message.header.fields
        member, sender = fields.get(3), fields.get(7)
        if member == "BeginPrompting":
            self.connection.send(new_method_return(message))
            self._call(sender, message.body[0], "", Exchange())
        elif member == "PerformPrompt":
            self.connection.send(new_method_return(message))
            self._perform(sender, *message.body)
        elif member == "StopPrompting":
            self.connection.send(new_method_return(message))
            self.exchanges.pop(message.body[0], None)
            self.is_open = False
            address = self._address(sender, message.body[0])
            self.connection.send(new_method_call(address, "PromptDone"))
        else:
            self.connection.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))

    def _perform(self, sender, path, kind, properties, exchange):
        texts = {name: value for name, (_, value) in properties.items()}
        answer = self.next_answer(texts)
        if isinstance(answer, Later):
            time.sleep(answer.seconds)
            answer = answer.text
        if answer is WAIT:
            return
        own = self.exchanges[path]
        reply = ("no", own.begin()) if answer is CANCEL else ("yes", own.send(exchange, answer))
        self.is_open = False
        self._ready(sender, path, *reply)

    def _call(self, sender, path, reply, exchange):
        self.exchanges[path] = exchange
        self._ready(sender, path, reply, exchange.begin())

    def _ready(self, sender, path, reply, exchange):
        address = self._address(sender, path)
        self.connection.send(new_method_call(address, "PromptReady", "sa{sv}s", (reply, {}, exchange)))

    @staticmethod
    def _address(sender, path):
        return DBusAddress(path, bus_name=sender, interface="org.gnome.keyring.internal.Prompter.Callback")
