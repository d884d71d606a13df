# SPDX-License-Identifier: Apache-2.0
"""Clients on the command line: secret-tool, git's helper and docker's helper."""
import json
import re

from . import clients
from .processes import find, run
from .world import World


def secret_tool(context, report):
    with World(context.provider) as world:
        client = clients.SecretTool(world)
        check, tool = report.check, client.tool
        stored = tool("store", "--label=Mail", "service", "example.com", "username", "alice", text="s3cret")
        check("store", (stored.status, stored.output), (0, ""))
        found = tool("lookup", "service", "example.com", "username", "alice")
        check("lookup prints the secret alone", (found.status, found.output, found.error), (0, "s3cret", ""))
        check("lookup by one attribute", tool("lookup", "username", "alice").output, "s3cret")
        missed = tool("lookup", "username", "bob")
        check("lookup without a match", (missed.status, missed.output, missed.error), (1, "", ""))
        check("lookup with another value", tool("lookup", "service", "example.com", "username", "al").status, 1)
        tool("store", "--label=Mail 2", "service", "example.com", "username", "bob", text="other")
        tool("store", "--label=Elsewhere", "service", "example.org", "username", "alice", text="third")
        found = tool("search", "--all", "--unlock", "service", "example.com")
        check("search --all --unlock", described(found), [("Mail", "s3cret"), ("Mail 2", "other")])
        check("search shows the attributes", attributes(found), [
            ("service", "example.com"), ("service", "example.com"), ("username", "alice"), ("username", "bob")])
        check("search --all", len(described(tool("search", "--all", "username", "alice"))), 2)
        check("search shows one item", len(described(tool("search", "service", "example.com"))), 1)
        missed = tool("search", "--all", "service", "nowhere")
        check("search without a match", (missed.output, described(missed)), ("", []))
        tool("store", "--label=New label", "service", "example.com", "username", "alice", text="changed")
        found = tool("search", "--all", "username", "alice", "service", "example.com")
        check("store replaces", described(found), [("New label", "changed")])
        values(check, tool)
        clearing(check, tool)
        collections(check, tool)


def values(check, tool):
    for step, text in [
        ("a secret with line ends", "one\ntwo\n"), ("an empty secret", ""), ("a secret of 8,000 bytes", "x" * 8_000),
        ("a secret beyond ASCII", "Grüße, 世界 \U0001f511"),
    ]:
        stored = tool("store", "--label=value", "value", step, text=text)
        found = tool("lookup", "value", step)
        check(step, (stored.status, found.output), (0, text))
    label = "Größe “5” \U0001f511 <&>"
    tool("store", f"--label={label}", "Größe", "Wert 世界", "empty", "", text="x")
    found = described(tool("search", "Größe", "Wert 世界"))
    check("a label and attributes beyond ASCII", found, [(label, "x")])
    check("an attribute without a value is found", tool("lookup", "empty", "", "Größe", "Wert 世界").output, "x")


def clearing(check, tool):
    cleared = tool("clear", "username", "alice")
    check("clear", (cleared.status, cleared.output, cleared.error), (0, "", ""))
    check("clear deletes every match", tool("lookup", "username", "alice").status, 1)
    check("clear leaves the others", tool("lookup", "username", "bob").output, "other")
    missed = tool("clear", "username", "alice")
    check("clear without a match", (missed.status, missed.output, missed.error), (1, "", ""))


def collections(check, tool):
    stored = tool("store", "--collection=session", "--label=a", "short", "lived", text="x")
    check("store in the collection session", (stored.status, tool("lookup", "short", "lived").output), (0, "x"))
    stored = tool("store", "--collection=nowhere", "--label=a", "no", "where", text="x")
    check("store in a collection that does not exist", (stored.status, stored.output), (1, ""))
    check("nothing is stored then", tool("lookup", "no", "where").status, 1)


def described(outcome):
    """The labels and secrets of the items that `secret-tool search` prints. Paths, dates and schemas differ."""
    blocks = re.split(r"(?m)^\[.*\]$", outcome.output)[1:]
    found = [dict(re.findall(r"(?m)^(label|secret) = (.*)$", block)) for block in blocks]
    return sorted((entry.get("label", ""), entry.get("secret")) for entry in found)


def attributes(outcome):
    """The attributes that it prints on standard error."""
    return sorted(re.findall(r"(?m)^attribute\.(\S+) = (.*)$", outcome.error))


def git_credential(context, report):
    with World(context.provider) as world:
        client = clients.GitCredential(world, context.tools)
        check, helper = report.check, client.helper
        check("get without a match", helper("get", protocol="https", host="example.com"), {})
        helper("store", protocol="https", host="example.com", username="alice", password="s3cret")
        found = {"username": "alice", "password": "s3cret"}
        check("store, then get by the host", helper("get", protocol="https", host="example.com"), found)
        check("get by the user", helper("get", protocol="https", host="example.com", username="alice"), found)
        check(
            "get of another user", helper("get", protocol="https", host="example.com", username="bob"),
            {"username": "bob"})
        check("get with another protocol", helper("get", protocol="http", host="example.com"), {})
        helper("store", protocol="https", host="example.com", username="alice", password="new")
        check("store replaces", helper("get", protocol="https", host="example.com"), {**found, "password": "new"})
        check("one item is stored", len(world.connect().items()), 1)
        helper("store", protocol="https", host="example.com:8443", path="repo.git", username="bob", password="port")
        answer = helper("get", protocol="https", host="example.com:8443", path="repo.git")
        check("a port and a path", answer, {"username": "bob", "password": "port"})
        helper("erase", protocol="https", host="example.com", username="alice")
        check(
            "erase", helper("get", protocol="https", host="example.com", username="alice"), {"username": "alice"})
        check(
            "erase leaves the others", helper("get", protocol="https", host="example.com:8443"),
            {"username": "bob", "password": "port"})
        if not find("git"):
            return report.skip("git itself", "git is not installed")
        return git(world, check, client.program)


def git(world, check, program):
    """The helper as git calls it."""
    def credential(command, text):
        words = [find("git"), "-c", "credential.helper=", "-c", f"credential.helper={program}", "credential", command]
        return run(words, {**world.environment, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}, text)

    place = "protocol=https\nhost=git.example.com\n"
    credential("approve", f"{place}username=carol\npassword=pässword\n\n")
    filled = credential("fill", f"{place}\n").output
    check("git credential approve and fill", filled, f"{place}username=carol\npassword=pässword\n")
    credential("reject", f"{place}username=carol\npassword=pässword\n\n")
    check("git credential reject", credential("fill", f"{place}\n").status, 128)


def docker_credential(context, report):
    with World(context.provider) as world:
        client = clients.DockerCredential(world)
        check, helper = report.check, client.helper

        def store(url, user, secret):
            return helper("store", json.dumps({"ServerURL": url, "Username": user, "Secret": secret})).status

        def got(url):
            outcome = helper("get", url)
            return json.loads(outcome.output) if outcome.succeeded else outcome.output.strip()

        hub, other = "https://index.docker.io/v1/", "registry.example.com:5000"
        missing = "credentials not found in native keychain"
        check("list without items", helper("list").output.strip(), "{}")
        check("get without a match", got(hub), missing)
        check("store", store(hub, "alice", "s3cret"), 0)
        check("get", got(hub), {"ServerURL": hub, "Username": "alice", "Secret": "s3cret"})
        check("store for another server", store(other, "bob", "token"), 0)
        check("list", json.loads(helper("list").output), {hub: "alice", other: "bob"})
        check("store replaces", (store(hub, "alice", "new"), got(hub)["Secret"]), (0, "new"))
        check("two items are stored", len(world.connect().items()), 2)
        check("erase", (helper("erase", hub).status, got(hub)), (0, missing))
        check("erase leaves the others", got(other)["Secret"], "token")
        check("list after that", json.loads(helper("list").output), {other: "bob"})
        again = helper("erase", hub)
        check("erase without a match", again.status, 0)
