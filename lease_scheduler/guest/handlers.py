"""What happens to a node when it joins the queue and when it leaves: a script, or a signed request to a webhook."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from lease_scheduler.guest.errors import HandlerError, WrongSettingError

#: Number of characters of an answer that may be an address, and of an error that is shown.
_LONGEST = 255

#: Maximum length of the answer of a webhook; the rest is not read.
_MOST_BYTES = 65_536

#: Header with the signature, as GitHub and others have it: ``sha256=`` and the HMAC of the body in hexadecimal digits.
SIGNATURE = "X-Lease-Scheduler-Signature"


class ScriptHandlers:
    """Runs a program for each node: ``PROGRAM join NODE`` and ``PROGRAM leave NODE``.

    The program reads the lease as JSON from its standard input, and has its id in ``LEASE_SCHEDULER_LEASE_ID``. After
    ``join`` its last line is the address of the node, unless it prints nothing. It may be called again for the same
    node, and must then end as if it had not been called before.

    :param program: path of the program
    :param seconds: time limit; the program and what it started are killed then
    """

    def __init__(self, program: str, seconds: float) -> None:
        if not os.access(program, os.X_OK):
            raise WrongSettingError("guest.handler_script", f"{program} is no program; name an executable file")
        self._program = program
        self._seconds = seconds

    def join(self, node: str, lease: Mapping[str, Any]) -> str | None:
        """Run the program, and return the address that it printed."""
        return _address(self._run("join", node, lease))

    def leave(self, node: str, lease: Mapping[str, Any]) -> None:
        """Run the program."""
        self._run("leave", node, lease)

    def _run(self, verb: str, node: str, lease: Mapping[str, Any]) -> str:
        environment = os.environ | {"LEASE_SCHEDULER_LEASE_ID": str(lease["id"])}
        try:
            process = subprocess.Popen(
                [self._program, verb, node],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise HandlerError(f"{self._program} cannot be run: {error.strerror}") from error
        with process:
            try:
                out, complaint = process.communicate(json.dumps(lease), self._seconds)
            except subprocess.TimeoutExpired as error:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise HandlerError(f"{self._program} {verb} {node} took longer than {self._seconds:g} s") from error
        if process.returncode:
            last = (complaint.strip().splitlines() or ["no message"])[-1][:_LONGEST]
            raise HandlerError(f"{self._program} {verb} {node} ended with status {process.returncode}: {last}")
        return out


class WebhookHandlers:
    """Sends a signed request for each node: JSON with ``verb`` (join or leave), ``node`` and ``lease``.

    An answer with a status of 2xx means that it is done. The answer to ``join`` may have the ``address`` of the node,
    as JSON. A request may be repeated.

    :param url: http or https
    :param secret: key of the signature
    :param seconds: time limit
    """

    def __init__(self, url: str, secret: str, seconds: float) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise WrongSettingError("guest.handler_url", f"{url} is no URL of a web server; use https://host/path")
        if not secret:
            raise WrongSettingError("guest.handler_secret", "is missing; choose a secret that the receiver has, too")
        self._url = url
        self._secret = secret.encode()
        self._seconds = seconds

    def join(self, node: str, lease: Mapping[str, Any]) -> str | None:
        """Send the request, and return the address in the answer."""
        answer = self._send("join", node, lease)
        if not answer.strip():
            return None
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise HandlerError(f"{self._url}: the answer is not JSON") from error
        return _address(str(found.get("address") or "")) if isinstance(found, dict) else None

    def leave(self, node: str, lease: Mapping[str, Any]) -> None:
        """Send the request."""
        self._send("leave", node, lease)

    def _send(self, verb: str, node: str, lease: Mapping[str, Any]) -> str:
        body = json.dumps({"verb": verb, "node": node, "lease": lease}).encode()
        headers = {"Content-Type": "application/json", SIGNATURE: signature(self._secret, body)}
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=self._seconds) as answer:
                text: str = answer.read(_MOST_BYTES).decode(errors="replace")
        except urllib.error.HTTPError as error:
            raise HandlerError(f"{self._url}: {verb} {node}: status {error.code}") from error
        except (OSError, HTTPException) as error:
            raise HandlerError(f"{self._url}: {verb} {node}: {error}") from error
        return text


def signature(secret: bytes, body: bytes) -> str:
    """Return the value of the header with the signature (RFC 2104, with SHA-256)."""
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def _address(text: str) -> str | None:
    lines = text.strip().splitlines()
    found = lines[-1].strip() if lines else ""
    if not found:
        return None
    if len(found) > _LONGEST or any(character.isspace() or character in ",=" for character in found):
        raise HandlerError(f"{found[:_LONGEST]!r} is no address of a node; print a name or an IP address")
    return found
